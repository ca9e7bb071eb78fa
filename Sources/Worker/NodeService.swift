package import ClusterProtocol
internal import Foundation
package import Messaging
internal import Synchronization

/// A machine of the cluster: connects to the coordinator and keeps its slots running.
package final class NodeService: Sendable {
    package struct Configuration: Sendable {
        package var supervisor: NodeSupervisor.Configuration
        package var security: ClientSecurity?

        package init(supervisor: NodeSupervisor.Configuration, security: ClientSecurity?) {
            self.supervisor = supervisor
            self.security = security
        }
    }

    private enum End: Sendable {
        case drained, stopped
        case failed(Failure)
    }

    private let configuration: Configuration
    private let notice: @Sendable (String) -> Void
    private let end = Mutex<End?>(nil)
    private let ended = DispatchSemaphore(value: 0)
    private let supervisor = Mutex<NodeSupervisor?>(nil)
    private let isDraining = Atomic<Bool>(false)

    /// Seconds that the coordinator may take to answer for the first time. Later it may be away as long as it likes.
    private static let patience = Duration.seconds(15)

    /// - Parameter notice: sentences for the log, from any thread.
    package init(_ configuration: Configuration, notice: @escaping @Sendable (String) -> Void) {
        self.configuration = configuration
        self.notice = notice
    }

    /// Blocks until every slot has left.
    /// - Throws: exit code 69 when no coordinator answers, 77 when it does not take the key.
    package func run() throws(Failure) {
        try reach()
        notice("connected to \(configuration.supervisor.endpoint), \(configuration.supervisor.slots) slots")
        let fresh = NodeSupervisor(configuration.supervisor) { [self] in report($0) }
        supervisor.withLock { $0 = fresh }
        if isDraining.load(ordering: .acquiring) { fresh.drain() }
        ended.wait()
        fresh.stop()
        if case .failed(let failure) = end.withLock({ $0 }) { throw failure }
    }

    /// Lets the leases at hand finish; `run` returns after that.
    package func drain() {
        isDraining.store(true, ordering: .releasing)
        supervisor.withLock { $0 }?.drain()
    }

    private func finish(_ how: End) {
        end.withLock { if $0 == nil { $0 = how } }
        ended.signal()
    }

    private func report(_ event: NodeSupervisor.Event) {
        switch event {
        case .drained: finish(.drained)
        case .unusable(let failure): notice(failure.message)
        case .replaced(let slot, let end):
            let words = end.log.last.map { ": \($0)" } ?? ""
            if end.cause == .exited, end.code == ExitCode.notPermitted.rawValue {
                return finish(
                    .failed(
                        Failure(
                            .transport, "The coordinator does not let this node work\(words)",
                            advice: "Use a key of the role worker, and a name that no other node has.",
                            fault: .settings, exitCode: .notPermitted)))
            }
            if end.cause != .exited || end.code != 0 { notice("slot \(slot) was replaced\(words)") }
        }
    }

    private func reach() throws(Failure) {
        let address = configuration.supervisor.endpoint
        let outcome: ConnectionProbe.Outcome
        do {
            outcome = try ConnectionProbe.connect(
                context: MessageContext(), address: address, security: configuration.security, timeout: Self.patience)
        } catch {
            throw Failure(
                .transport, "\(address) is no address of a coordinator: \(error)",
                advice: "Write tcp://HOST:PORT or ipc://PATH.", fault: .settings, exitCode: .usage)
        }
        switch outcome {
        case .connected: return
        case .unreachable:
            throw Failure(
                .transport, "No coordinator answers at \(address).",
                advice: "Start one with `weft coordinator`, or name another with --coordinator.", retry: .retry,
                fault: .environment, exitCode: .unreachable)
        case .broken:
            throw Failure(
                .transport, "\(address) takes connections and ends them before a word is said.",
                advice:
                    "Look whether the coordinator behind it runs, and whether --key is a key for that coordinator.",
                retry: .retry, fault: .environment, exitCode: .unreachable)
        case .unauthorized, .mismatched:
            throw Failure(
                .transport, "The coordinator at \(address) does not take this node's key.",
                advice:
                    "Show a key of the role worker with --key; `weft keys new` makes it on the coordinator's machine.",
                fault: .settings, exitCode: .notPermitted)
        }
    }
}
