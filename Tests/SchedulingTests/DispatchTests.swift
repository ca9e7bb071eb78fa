import ClusterProtocol
import Scheduling
import Testing

@Suite("Who gets which segment") struct DispatchTests {
    private typealias Cluster = TestCluster

    @Test("Segments are leased in order of presentation") func order() {
        var cluster = Cluster()
        cluster.add("a", slots: 2)
        cluster.submit(segments: 40) { spec in
            for index in spec.segments.indices { spec.segments[index].weight = Double(index + 1) }
        }
        #expect(cluster.grants.map(\.segment).sorted() == [0, 1])
        cluster.finish(cluster.grants[0])
        #expect(cluster.newGrants.map(\.segment) == [2])
    }

    @Test("Near the end the heaviest segments go first") func tail() {
        var cluster = Cluster()
        cluster.submit(segments: 3) { spec in
            spec.segments = [1, 5, 3].map { SegmentSpec(weight: $0) }
        }
        cluster.add("a")
        #expect(cluster.newGrants.map(\.segment) == [1])
    }

    @Test("Leases rise from the first number that is given") func fencing() {
        var cluster = Cluster(firstLease: 500)
        cluster.submit(segments: 2)
        cluster.add("a", slots: 2)
        #expect(cluster.grants.map(\.lease.number) == [500, 501])
        #expect(cluster.scheduler.nextLease == LeaseID(502))
    }

    @Test("A higher priority goes first") func priority() {
        var cluster = Cluster()
        cluster.submit(JobID("low"), segments: 5)
        cluster.submit(JobID("high"), segments: 1, priority: 1)
        cluster.add("a", slots: 2)
        #expect(cluster.grants.map(\.job.text) == ["high", "low"])
    }

    @Test("Jobs of one priority share the slots evenly") func fairShare() {
        var cluster = Cluster()
        cluster.submit(JobID("first"), segments: 50)
        cluster.submit(JobID("second"), segments: 50)
        cluster.add("a", slots: 8)
        #expect(cluster.grants.count { $0.job.text == "first" } == 4)
        #expect(cluster.grants.count { $0.job.text == "second" } == 4)
    }

    @Test("A node gets only what it can encode") func encoders() {
        var cluster = Cluster()
        cluster.submit(segments: 2, encoder: "hevc_nvenc")
        cluster.add("software")
        #expect(cluster.grants.isEmpty)
        cluster.add("hardware", encoders: ["libx264", "hevc_nvenc"])
        #expect(cluster.grants.map(\.worker.node) == ["hardware"])
    }

    @Test("A node that was barred from a job works for others only") func barred() {
        var cluster = Cluster()
        cluster.submit(segments: 2)
        cluster.handle(.nodeBarred(Cluster.film, node: "a", Cluster.encoder))
        cluster.add("a")
        #expect(cluster.grants.isEmpty)
        cluster.submit(JobID("other"), segments: 1)
        #expect(cluster.newGrants.map(\.job.text) == ["other"])
    }

    @Test("A draining node finishes its lease and gets no other") func drain() throws {
        var cluster = Cluster()
        cluster.submit(segments: 3)
        cluster.add("a")
        cluster.handle(.nodeDrained("a", true))
        cluster.finish(try #require(cluster.lease(of: "a")))
        #expect(cluster.counts().finished == 1)
        #expect(cluster.grants.count == 1)
        cluster.handle(.nodeDrained("a", false))
        #expect(cluster.newGrants.count == 1)
    }

    @Test("An idle slot repeats the segment that is predicted to end last, and the first result wins") func race()
        throws
    {
        var cluster = Cluster()
        cluster.submit(segments: 4)
        cluster.add("fast")
        cluster.add("slow")
        let slow = try #require(cluster.lease(of: "slow"))
        for _ in 0..<3 { cluster.finish(try #require(cluster.lease(of: "fast")), after: 2) }
        let race = try #require(cluster.newGrants.first)
        #expect(race.isSpeculative && race.segment == slow.segment && race.worker.node == "fast")
        cluster.finish(race, after: 2)
        #expect(cluster.history.contains(.revoke(slow.lease, slow.worker, .superseded)))
        #expect(cluster.state() == .finished)
    }

    @Test("A second result that differs is reported and not kept") func nondeterminism() throws {
        var cluster = Cluster()
        cluster.submit(segments: 4)
        cluster.add("fast")
        cluster.add("slow")
        let slow = try #require(cluster.lease(of: "slow"))
        for _ in 0..<4 { cluster.finish(try #require(cluster.lease(of: "fast")), after: 2) }
        cluster.receive(slow, hash: "other")
        let winner = try #require(cluster.lease(of: "fast"))
        #expect(
            cluster.actions == [
                .nondeterminism(
                    Cluster.film, segment: slow.segment,
                    kept: Outcome(lease: winner.lease, worker: winner.worker, hash: "\(slow.segment)"),
                    other: Outcome(lease: slow.lease, worker: slow.worker, hash: "other")),
                .discard(slow.lease, .superseded),
            ])
        #expect(cluster.scheduler.jobStatus(Cluster.film)?.nondeterministic == [slow.segment])
    }

    @Test("Without speculation idle slots stay idle") func noSpeculation() throws {
        var cluster = Cluster()
        cluster.submit(segments: 4) { $0.policy.speculation = false }
        cluster.add("fast")
        cluster.add("slow")
        for _ in 0..<3 { cluster.finish(try #require(cluster.lease(of: "fast")), after: 2) }
        #expect(cluster.newGrants.isEmpty)
    }
}
