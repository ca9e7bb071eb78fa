import ClusterProtocol
import Scheduling
import Testing

@Suite("Workers that come and go") struct ConnectionTests {
    private typealias Cluster = TestCluster

    @Test("A new process of a slot ends the lease of the one before") func newIncarnation() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        let old = try #require(cluster.lease(of: "a"))
        cluster.join(Cluster.worker("a", 0, 2))
        let attempt = try #require(cluster.scheduler.segmentStatus(Cluster.film, 0)?.attempts.first)
        #expect(attempt.state == .failed && attempt.failure == Cluster.dead)
        cluster.receive(old)
        #expect(cluster.actions == [.discard(old.lease, .stale)])
        cluster.handle(.workerReady(Cluster.worker("a", 0, 2)))
        #expect(cluster.newGrants.count == 1)
    }

    @Test("A process older than the one that is known is ignored") func oldIncarnation() {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.join(Cluster.worker("a", 0, 5))
        cluster.join(Cluster.worker("a", 0, 4))
        cluster.handle(.workerReady(Cluster.worker("a", 0, 4)))
        #expect(cluster.grants.isEmpty)
    }

    @Test("A slot that comes back with its lease keeps its work") func reattach() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        let grant = try #require(cluster.lease(of: "a"))
        cluster.handle(.workerLost(grant.worker, Cluster.silent))
        cluster.join(grant.worker, holding: grant.lease)
        cluster.finish(grant)
        #expect(cluster.state() == .finished && cluster.grants.count == 1)
        #expect(cluster.scheduler.segmentStatus(Cluster.film, 0)?.attempts.map(\.state) == [.finished])
    }

    @Test("A slot that comes back too late is told to stop") func tooLate() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        let grant = try #require(cluster.lease(of: "a"))
        cluster.handle(.workerLost(grant.worker, Cluster.silent))
        cluster.add("b")
        cluster.finish(try #require(cluster.lease(of: "b")))
        cluster.join(grant.worker, holding: grant.lease)
        #expect(cluster.actions.contains(.revoke(grant.lease, grant.worker, .stale)))
    }

    @Test("A lease that its slot does not know is given to somebody else at once") func lostGrant() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        cluster.join(Cluster.worker("a"), holding: nil)
        cluster.handle(.workerReady(Cluster.worker("a")))
        #expect(cluster.newGrants.count == 1 && cluster.grants.count == 2)
    }

    @Test("A result counts only from the slot that holds the lease, and once") func holder() throws {
        var cluster = Cluster()
        cluster.submit(segments: 2)
        cluster.add("a", slots: 2)
        let grant = try #require(cluster.grants.first)
        let thief = try #require(cluster.grants.last).worker
        cluster.handle(.resultReceived(grant.lease, thief, hash: "x", frames: 1))
        #expect(cluster.actions == [.discard(grant.lease, .notTheHolder)])
        cluster.receive(grant)
        cluster.receive(grant)
        #expect(cluster.actions == [.discard(grant.lease, .duplicate)])
        cluster.handle(.resultStored(grant.lease))
        cluster.receive(grant)
        #expect(cluster.actions == [.discard(grant.lease, .stale)])
        cluster.handle(.resultStored(grant.lease))
        #expect(cluster.counts().finished == 1)
    }

    @Test("After a restart finished segments stay finished and slots keep their leases") func restart() throws {
        var cluster = Cluster(firstLease: 100)
        let worker = Cluster.worker("a")
        let progress = JobProgress(
            state: .running, finished: [0: "0"], failed: [1: Cluster.bad],
            openLeases: [.init(lease: LeaseID(7), worker: worker, segment: 2)])
        cluster.submit(segments: 4, progress: progress)
        cluster.add("b")
        #expect(cluster.newGrants.map(\.segment) == [3])
        cluster.join(worker, holding: LeaseID(7))
        let held = Grant(lease: LeaseID(7), worker: worker, job: Cluster.film, segment: 2, isSpeculative: false)
        cluster.finish(held)
        cluster.finish(try #require(cluster.lease(of: "b")))
        #expect(cluster.state() == .failed && cluster.counts().finished == 3 && cluster.grants.count == 1)
    }

    @Test("After a restart a segment waits for its slot, but not for ever, and not once the slot is back without it")
    func grace() {
        let open = (0..<2).map {
            JobProgress.OpenLease(lease: LeaseID(7 + UInt64($0)), worker: Cluster.worker("a", $0), segment: $0)
        }
        var cluster = Cluster(firstLease: 100)
        cluster.submit(segments: 2, progress: JobProgress(state: .running, openLeases: open))
        cluster.add("b", slots: 2)
        #expect(cluster.grants.isEmpty)
        cluster.join(Cluster.worker("a", 0, 2))
        #expect(cluster.newGrants.map(\.segment) == [0])
        cluster.wait(21)
        #expect(cluster.newGrants.map(\.segment) == [1])
    }

    @Test("The report names each attempt") func attempts() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        cluster.add("b")
        cluster.wait(2)
        cluster.fail(try #require(cluster.grants.first), Cluster.encoder)
        cluster.finish(try #require(cluster.grants.last), after: 4)
        let segment = try #require(cluster.scheduler.segmentStatus(Cluster.film, 0))
        #expect(segment.state == .finished && segment.frames == 100)
        #expect(segment.attempts.map(\.state) == [.failed, .finished])
        #expect(segment.attempts.map { $0.seconds(at: cluster.now) } == [2, 4])
        #expect(segment.attempts[1].framesPerSecond(at: cluster.now) == 25)
        let worker = try #require(cluster.scheduler.workerStatus().first { $0.finished == 1 })
        #expect(worker.speed == 2.5 && worker.frames == 100)
    }
}
