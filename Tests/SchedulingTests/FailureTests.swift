import ClusterProtocol
import Scheduling
import Testing

@Suite("Failures and their budgets") struct FailureTests {
    private typealias Cluster = TestCluster

    @Test("A node that failed a segment does not get it again while others can") func failedBy() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        cluster.fail(try #require(cluster.lease(of: "a")), Cluster.encoder)
        cluster.add("b")
        // "a" was the only one, so it had the second try; its failure sends the segment to "b".
        cluster.fail(try #require(cluster.lease(of: "a")), Cluster.encoder, ready: true)
        #expect(cluster.grants.map(\.worker.node) == ["a", "a", "b"])
    }

    @Test("Give up means one try; the others go on and are kept") func giveUp() throws {
        var cluster = Cluster()
        cluster.submit(segments: 3)
        cluster.add("a")
        cluster.fail(try #require(cluster.lease(of: "a")), Cluster.bad)
        for _ in 0..<2 { cluster.finish(try #require(cluster.lease(of: "a"))) }
        #expect(cluster.state() == .failed)
        #expect(cluster.counts().finished == 2 && cluster.counts().failed == 1)
        #expect(cluster.grants.count == 3)
    }

    @Test("A segment that fails on three nodes fails, on a single node after three tries", arguments: [1, 4])
    func elsewhere(nodes: Int) throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        for node in 0..<nodes { cluster.add("node\(node)") }
        for _ in 0..<3 { cluster.fail(try #require(cluster.grants.last), Cluster.encoder) }
        #expect(cluster.state() == .failed)
        #expect(Set(cluster.grants.map(\.worker.node)).count == min(nodes, 3))
        #expect(cluster.scheduler.segmentStatus(Cluster.film, 0)?.failure == Cluster.encoder)
    }

    @Test("Five dead workers make a segment that kills workers") func killer() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        for node in 0..<9 { cluster.add("node\(node)") }
        for death in 1...5 {
            #expect(cluster.state() == .running, "after \(death - 1) deaths")
            cluster.handle(.workerLost(try #require(cluster.grants.last).worker, Cluster.dead))
        }
        #expect(cluster.state() == .failed && cluster.grants.count == 5)
        let failure = try #require(cluster.scheduler.segmentStatus(Cluster.film, 0)?.failure)
        #expect(failure.message.contains("5 workers died"))
    }

    @Test("Two workers that crash by themselves on a segment make it the source's fault") func crasher() throws {
        var cluster = Cluster()
        cluster.submit(segments: 2)
        for node in 0..<4 { cluster.add("node\(node)") }
        let crash = Failure(.resources, "The slot's process was ended by signal 11.", retry: .elsewhere, fault: .source)
        for count in 1...2 {
            #expect(cluster.state() == .running, "after \(count - 1) crashes")
            let lease = try #require(cluster.grants.last { $0.segment == 0 })
            cluster.handle(.workerLost(lease.worker, crash))
        }
        let failure = try #require(cluster.scheduler.segmentStatus(Cluster.film, 0)?.failure)
        #expect(failure.fault == .source && failure.message.contains("2 workers crashed"), "\(failure)")
        #expect(Set(cluster.grants.filter { $0.segment == 0 }.map(\.worker.node)).count == 2)
    }

    @Test("A lease without new frames is revoked at the stall limit, and its segment goes elsewhere") func stall()
        throws
    {
        var cluster = Cluster()
        cluster.submit(segments: 1) { $0.policy.stallLimit = Interval(seconds: 30) }
        cluster.add("a")
        let grant = try #require(cluster.lease(of: "a"))
        cluster.add("b")
        cluster.wait(20)
        cluster.handle(.leaseProgressed(grant.lease, grant.worker, frames: 10))
        cluster.wait(20)
        cluster.handle(.leaseProgressed(grant.lease, grant.worker, frames: 10))
        #expect(cluster.grants.count == 1)
        cluster.wait(9.9)
        #expect(cluster.grants.count == 1)
        cluster.wait(0.2)
        #expect(cluster.actions.contains(.revoke(grant.lease, grant.worker, .stalled)))
        #expect(cluster.newGrants.map(\.worker.node) == ["b"])
        let attempt = try #require(cluster.scheduler.segmentStatus(Cluster.film, 0)?.attempts.first)
        #expect(attempt.state == .failed && attempt.failure?.boundary == .hardware && attempt.frames == 10)
    }

    @Test("A result that proves bad costs its node the segment") func rejected() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        cluster.add("b")
        let grant = try #require(cluster.grants.first)
        cluster.receive(grant)
        cluster.handle(.resultRejected(grant.lease, Cluster.encoder))
        let second = try #require(cluster.newGrants.first)
        #expect(second.worker.node != grant.worker.node && second.lease > grant.lease)
    }

    @Test("While another lease of the segment runs, a failure does not end it") func otherLease() throws {
        var cluster = Cluster()
        cluster.submit(segments: 4)
        cluster.add("fast")
        cluster.add("slow")
        for _ in 0..<3 { cluster.finish(try #require(cluster.lease(of: "fast")), after: 2) }
        cluster.fail(try #require(cluster.lease(of: "fast")), Cluster.bad)
        #expect(cluster.state() == .running)
        cluster.finish(try #require(cluster.lease(of: "slow")))
        #expect(cluster.state() == .finished)
    }
}

@Suite("Quarantine") struct QuarantineTests {
    private typealias Cluster = TestCluster

    @Test("A node that only fails gets few leases, with growing pauses") func backOff() {
        var cluster = Cluster()
        cluster.submit(segments: 500)
        cluster.add("good", slots: 2)
        cluster.add("bad", slots: 2)
        for _ in 0..<240 {
            for grant in cluster.grants where cluster.isRunning(grant) {
                if grant.worker.node == "bad" { cluster.fail(grant, Cluster.encoder) } else { cluster.finish(grant) }
            }
        }
        let leases = cluster.grants.count { $0.worker.node == "bad" }
        #expect((4...16).contains(leases), "\(leases) leases")
        #expect(cluster.counts().failed == 0)
        let ends = cluster.history.compactMap { action -> Double? in
            if case .quarantine("bad", "libx264", let until, _) = action { until.seconds } else { nil }
        }
        #expect(ends == ends.sorted() && ends.count >= 4)
    }

    @Test("A quarantine is for one encoder") func perCapability() throws {
        var cluster = Cluster()
        cluster.submit(segments: 50, encoder: "hevc_nvenc")
        cluster.add("good", encoders: ["hevc_nvenc"])
        cluster.add("half", encoders: ["libx264", "hevc_nvenc"])
        for _ in 0..<3 { cluster.fail(try #require(cluster.lease(of: "half")), Cluster.encoder) }
        #expect(
            cluster.scheduler.nodeStatus().first { $0.node == "half" }?.quarantines.map(\.encoder) == ["hevc_nvenc"])
        cluster.submit(JobID("soft"), segments: 1)
        #expect(cluster.newGrants.map(\.worker.node) == ["half"])
    }

    @Test("After a quarantine a node proves itself with one lease at a time") func probation() throws {
        var cluster = Cluster()
        cluster.submit(segments: 90)
        cluster.add("good")
        cluster.add("shaky", slots: 3)
        for slot in 0..<3 {
            cluster.fail(try #require(cluster.lease(of: "shaky", slot: slot)), Cluster.encoder, ready: false)
        }
        for slot in 0..<3 { cluster.handle(.workerReady(Cluster.worker("shaky", slot))) }
        cluster.wait(2.1)
        let probes = cluster.newGrants.filter { $0.worker.node == "shaky" }
        #expect(probes.count == 1)
        cluster.wait(1)
        cluster.receive(try #require(probes.first))
        cluster.handle(.resultStored(try #require(probes.first).lease))
        #expect(cluster.newGrants.count == 2)
    }

    @Test("Sources and settings that fail are not the node's fault") func notItsFault() {
        var cluster = Cluster()
        cluster.submit(segments: 20)
        cluster.add("a")
        for _ in 0..<20 { if let grant = cluster.lease(of: "a") { cluster.fail(grant, Cluster.bad) } }
        #expect(cluster.state() == .failed && cluster.counts().failed == 20)
        #expect(cluster.now == .zero)
    }

    @Test("A machine that reboots with all its slots at work has one strike") func oneStrike() {
        var cluster = Cluster()
        cluster.submit(segments: 90)
        cluster.add("a", slots: 8)
        cluster.wait(5)
        for slot in 0..<8 { cluster.handle(.workerLost(Cluster.worker("a", slot), Cluster.dead)) }
        #expect(cluster.scheduler.nodeStatus().allSatisfy { $0.quarantines.isEmpty })
    }

    @Test("Where every node fails again and again, the job ends and keeps what it has") func hopeless() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1000)
        cluster.add("only")
        cluster.finish(try #require(cluster.lease(of: "only")))
        while cluster.state() == .running, cluster.now.seconds < 1000 {
            if let grant = cluster.grants.last, cluster.isRunning(grant) {
                cluster.fail(grant, Cluster.encoder)
            } else {
                cluster.wait(1)
            }
        }
        #expect(cluster.state() == .failed && cluster.counts().finished == 1 && cluster.counts().failed == 999)
        #expect(cluster.now.seconds < 120 && cluster.grants.count < 20)
    }

    @Test("Releasing a node ends its quarantine") func release() throws {
        var cluster = Cluster()
        cluster.submit(segments: 20)
        cluster.add("other")
        cluster.add("a")
        for _ in 0..<3 { cluster.fail(try #require(cluster.lease(of: "a")), Cluster.encoder) }
        #expect(cluster.newGrants.isEmpty)
        cluster.handle(.nodeReleased("a"))
        #expect(cluster.newGrants.map(\.worker.node) == ["a"])
    }
}
