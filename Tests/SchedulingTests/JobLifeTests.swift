import ClusterProtocol
import Scheduling
import Testing

@Suite("The life of a job") struct JobLifeTests {
    private typealias Cluster = TestCluster

    @Test("A job is finished when its last segment is stored") func finishes() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        #expect(cluster.state() == .waiting)
        cluster.add("a")
        #expect(cluster.state() == .running)
        let grant = try #require(cluster.newGrants.first)
        cluster.receive(grant)
        #expect(cluster.actions == [.store(grant.lease, job: Cluster.film, segment: 0)])
        #expect(cluster.state() == .running)
        cluster.handle(.resultStored(grant.lease))
        #expect(cluster.actions.contains(.segmentFinished(Cluster.film, segment: 0, grant.lease)))
        #expect(cluster.actions.last == .jobChanged(Cluster.film, .finished))
    }

    @Test("A job without segments is finished at once") func empty() {
        var cluster = Cluster()
        cluster.submit(segments: 0)
        #expect(cluster.state() == .finished)
    }

    @Test("A paused job gets no leases, keeps what comes in, and goes on when resumed") func pause() throws {
        var cluster = Cluster()
        cluster.submit(segments: 3)
        cluster.add("a")
        cluster.handle(.jobPaused(Cluster.film))
        cluster.finish(try #require(cluster.lease(of: "a")))
        #expect(cluster.counts().finished == 1 && cluster.grants.count == 1)
        cluster.handle(.jobResumed(Cluster.film))
        #expect(cluster.newGrants.count == 1 && cluster.state() == .running)
    }

    @Test("Cancelling revokes the leases; the slots are free for others") func cancel() throws {
        var cluster = Cluster()
        cluster.submit(segments: 3)
        cluster.add("a")
        let grant = try #require(cluster.lease(of: "a"))
        cluster.handle(.jobCancelled(Cluster.film))
        #expect(cluster.actions.contains(.revoke(grant.lease, grant.worker, .jobCancelled)))
        cluster.submit(JobID("next"), segments: 1)
        #expect(cluster.newGrants.isEmpty)
        cluster.handle(.workerReady(grant.worker))
        #expect(cluster.newGrants.map(\.job.text) == ["next"])
    }

    @Test("A retry runs just the failed segments") func retryFailed() throws {
        var cluster = Cluster()
        cluster.submit(segments: 2)
        cluster.add("a")
        cluster.fail(try #require(cluster.lease(of: "a")), Cluster.bad)
        cluster.finish(try #require(cluster.lease(of: "a")))
        #expect(cluster.state() == .failed && cluster.counts().failed == 1 && cluster.counts().finished == 1)
        cluster.handle(.jobRetried(Cluster.film, RetryRequest()))
        #expect(cluster.newGrants.count == 1)
        cluster.finish(try #require(cluster.newGrants.first))
        #expect(cluster.state() == .finished && cluster.grants.count == 3)
    }

    @Test("A retry can name a finished segment and the node to run it") func retryNamed() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        cluster.finish(try #require(cluster.lease(of: "a")))
        cluster.handle(.jobRetried(Cluster.film, RetryRequest(segments: [0, 99], node: "b")))
        #expect(cluster.newGrants.isEmpty && cluster.state() == .running)
        cluster.add("b")
        #expect(cluster.newGrants.map(\.segment) == [0])
        cluster.finish(try #require(cluster.lease(of: "b")))
        #expect(cluster.state() == .finished)
    }

    @Test("A retry of a running segment fences off the lease of before") func retryRunning() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        let old = try #require(cluster.lease(of: "a"))
        cluster.handle(.jobRetried(Cluster.film, RetryRequest(segments: [0])))
        #expect(cluster.actions.contains(.revoke(old.lease, old.worker, .retried)))
        cluster.receive(old)
        #expect(cluster.actions == [.discard(old.lease, .superseded)])
        cluster.handle(.workerReady(old.worker))
        #expect(cluster.newGrants.count == 1)
    }

    @Test("A removed job is forgotten, and its late results are not wanted") func remove() throws {
        var cluster = Cluster()
        cluster.submit(segments: 2)
        cluster.add("a")
        let grant = try #require(cluster.lease(of: "a"))
        cluster.handle(.jobRemoved(Cluster.film))
        #expect(cluster.state() == .running)
        cluster.handle(.jobCancelled(Cluster.film))
        cluster.handle(.jobRemoved(Cluster.film))
        #expect(cluster.state() == nil && cluster.scheduler.jobList().isEmpty)
        cluster.receive(grant)
        #expect(cluster.actions == [.discard(grant.lease, .superseded)])
    }

    @Test("A result that cannot be stored holds the job, blames nobody, and is made again") func fullDisk() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        let grant = try #require(cluster.lease(of: "a"))
        cluster.receive(grant)
        cluster.handle(.workerReady(grant.worker))
        cluster.handle(.storeFailed(grant.lease, Cluster.full))
        #expect(cluster.newGrants.isEmpty && cluster.counts().pending == 1)
        cluster.wait(3)
        #expect(cluster.newGrants.count == 1)
        #expect(cluster.scheduler.workerStatus().first?.failures == 0)
    }
}
