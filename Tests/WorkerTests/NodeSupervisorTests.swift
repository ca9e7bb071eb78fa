import ClusterProtocol
import Foundation
import Synchronization
import Testing

@testable import Worker

@Suite("Node supervisor") struct NodeSupervisorTests {
    /// Runs a supervisor until it has called its node unusable.
    private func complaint(of executable: String, slots: Int) -> Failure? {
        let failure = Mutex<Failure?>(nil)
        let told = DispatchSemaphore(value: 0)
        let supervisor = NodeSupervisor(
            .init(executable: executable, endpoint: "ipc:///nowhere", node: "test", slots: slots)
        ) { event in
            guard case .unusable(let found) = event else { return }
            failure.withLock { $0 = found }
            told.signal()
        }
        _ = told.wait(timeout: .now() + 60)
        supervisor.stop()
        // Told once, not with every process that follows.
        #expect(told.wait(timeout: .now()) == .timedOut)
        return failure.withLock { $0 }
    }

    @Test("A program that cannot be started is told with the system's reason")
    func missing() throws {
        let failure = try #require(complaint(of: "/no/such/weft", slots: 2))
        #expect(failure.message.contains("/no/such/weft") && failure.message.contains("No such file"))
        #expect(failure.exitCode == .temporary && failure.code == ENOENT)
    }

    @Test("A program that ends at once, in every slot, is told with its status")
    func dying() throws {
        let failure = try #require(complaint(of: "/bin/false", slots: 2))
        #expect(failure.message.contains("exit status 1"))
    }
}
