import ClusterProtocol
import Scheduling
import Testing

@Suite("Results that prove wrong after they were accepted") struct DisproofTests {
    private typealias Cluster = TestCluster
    private static let wrong = Failure(.encoder, "Not what the source gives.", retry: .elsewhere, fault: .worker)

    private func disproved(_ segment: Int, _ node: String, isCertain: Bool = true) -> Event {
        .resultDisproved(Cluster.film, segment: segment, node: node, Self.wrong, isCertain: isCertain)
    }

    private func quarantines(_ cluster: TestCluster) -> [Double] {
        cluster.history.compactMap {
            if case .quarantine(_, _, let until, _) = $0 { (until - .zero).seconds } else { nil }
        }
    }

    @Test("The segment runs again on another node, and one such result is enough to send its maker away")
    func elsewhere() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        cluster.finish(try #require(cluster.lease(of: "a")))
        #expect(cluster.state() == .finished)
        cluster.add("b")
        cluster.handle(disproved(0, "a"))
        #expect(cluster.state() == .running)
        #expect(cluster.newGrants.map(\.worker.node) == ["b"])
        #expect(quarantines(cluster).count == 1)
        cluster.finish(try #require(cluster.lease(of: "b")))
        #expect(cluster.state() == .finished)
    }

    @Test("A doubt alone sends nobody away, but the segment runs elsewhere") func doubt() throws {
        var cluster = Cluster()
        cluster.submit(segments: 1)
        cluster.add("a")
        cluster.finish(try #require(cluster.lease(of: "a")))
        cluster.add("b")
        cluster.handle(disproved(0, "a", isCertain: false))
        #expect(cluster.newGrants.map(\.worker.node) == ["b"])
        #expect(quarantines(cluster).isEmpty)
    }

    @Test(
        "A node whose results all prove wrong is out for longer each time, whatever was stored between; then the job ends"
    )
    func bounded() throws {
        var cluster = Cluster()
        cluster.submit(segments: 40)
        cluster.add("a")
        var steps = 0
        while cluster.state() == .running, steps < 500 {
            steps += 1
            guard let grant = cluster.lease(of: "a"), cluster.isRunning(grant) else {
                cluster.wait(60)
                continue
            }
            cluster.finish(grant)
            cluster.handle(disproved(grant.segment, "a"))
        }
        #expect(cluster.state() == .failed)
        #expect(cluster.grants.count <= 40, "\(cluster.grants.count) leases")
    }

    @Test("A node that is out for good works again when somebody releases it") func released() throws {
        var configuration = Configuration()
        configuration.quarantinesBeforeExile = 1
        var cluster = Cluster(configuration: configuration)
        cluster.submit(segments: 2) { $0.policy.quarantinesBeforeGivingUp = 0 }
        cluster.add("a")
        cluster.finish(try #require(cluster.lease(of: "a")))
        cluster.handle(disproved(0, "a"))
        cluster.fail(try #require(cluster.lease(of: "a")), Cluster.again)
        cluster.wait(1_000_000)
        #expect(cluster.newGrants.isEmpty)
        cluster.handle(.nodeReleased("a"))
        #expect(cluster.newGrants.map(\.worker.node) == ["a"])
    }

    @Test("What is not finished, or not known, cannot be disproved") func unknown() throws {
        var cluster = Cluster()
        cluster.submit(segments: 2)
        cluster.add("a")
        cluster.handle(disproved(0, "a"))
        cluster.handle(disproved(7, "a"))
        #expect(cluster.counts().running == 1 && quarantines(cluster).isEmpty)
    }
}
