package import ClusterProtocol
internal import Foundation
package import Messaging
internal import Synchronization

/// A machine of the cluster: connects to the coordinator and keeps its slots running.
package final class NodeService: Sendable {
    package struct Configuration: Sendable {
        package var supervisor: NodeSupervisor.Configuration
        package var security: ClientSecurity?
        /// Seconds that leases may take to finish once the node leaves; `nil` for as long as they take.
        package var drainSeconds: Double?

        package init(
            supervisor: NodeSupervisor.Configuration, security: ClientSecurity?, drainSeconds: Double? = nil
        ) {
            self.supervisor = supervisor
            self.security = security
            self.drainSeconds = drainSeconds
        }
    }

    private enum End: Sendable {
        case drained, expired
        case failed(Failure)
    }

    /// What the log has told of the connections: one word for the node, not one for each slot.
    private struct Links {
        var away: Set<Int> = []
    }

    private let configuration: Configuration
    private let notice: @Sendable (String) -> Void
    private let end = Mutex<End?>(nil)
    private let ended = DispatchSemaphore(value: 0)
    private let supervisor = Mutex<NodeSupervisor?>(nil)
    private let isDraining = Atomic<Bool>(false)
    private let links = Mutex(Links())

    /// Seconds that the coordinator may take to answer for the first time. Later it may be away as long as it likes.
    private static let patience = Duration.seconds(15)

    /// - Parameter notice: sentences for the log, from any thread.
    package init(_ configuration: Configuration, notice: @escaping @Sendable (String) -> Void) {
        self.configuration = configuration
        self.notice = notice
    }

    /// Blocks until every slot has left.
    /// - Throws: exit code 69 when no coordinator answers, 77 when it does not take the key.
    /// - Parameter connected: called once the coordinator answers.
    package func run(connected: @Sendable () -> Void = {}) throws(Failure) {
        try reach()
        let slots = configuration.supervisor.slots
        notice(
            "connected to \(configuration.supervisor.endpoint) as \(configuration.supervisor.node) with \(slots) "
                + (slots == 1 ? "slot" : "slots"))
        connected()
        let fresh = NodeSupervisor(configuration.supervisor) { [self] in report($0) }
        supervisor.withLock { $0 = fresh }
        if isDraining.load(ordering: .acquiring) { fresh.drain() }
        ended.wait()
        fresh.stop()
        if case .expired = end.withLock({ $0 }) {
            notice("leases took longer than --drain-timeout; they are given to others")
        }
        if case .failed(let failure) = end.withLock({ $0 }) { throw failure }
    }

    /// Lets the leases at hand finish, within `drainSeconds`; `run` returns after that.
    package func drain() {
        guard !isDraining.exchange(true, ordering: .acquiringAndReleasing) else { return }
        supervisor.withLock { $0 }?.drain()
        guard let seconds = configuration.drainSeconds else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.finish(.expired) }
    }

    /// Rises as long as the node looks after its slots; `nil` before there are any.
    package var pulse: Int? { supervisor.withLock { $0?.pulse } }

    private func finish(_ how: End) {
        end.withLock { if $0 == nil { $0 = how } }
        ended.signal()
    }

    private func report(_ event: NodeSupervisor.Event) {
        switch event {
        case .drained: finish(.drained)
        case .noted(let slot, let note): report(note, of: slot)
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
            links.withLock { _ = $0.away.remove(slot) }
            if end.cause != .exited || end.code != 0 { notice("slot \(slot) was replaced\(words)") }
        }
    }

    private func report(_ note: SlotNote, of slot: Int) {
        switch note {
        case .lease(let words): notice("slot \(slot): \(words)")
        case .connected:
            let isBack = links.withLock { links in
                links.away.remove(slot) != nil && links.away.isEmpty
            }
            if isBack { notice("connected to the coordinator again") }
        case .disconnected:
            guard !isDraining.load(ordering: .acquiring) else { return }
            let isFirst = links.withLock { links in
                links.away.insert(slot).inserted && links.away.count == 1
            }
            if isFirst { notice("lost the coordinator; connecting again, and leases at hand go on") }
        }
    }

    private func reach() throws(Failure) {
        let address = configuration.supervisor.endpoint
        let outcome: ConnectionProbe.Outcome
        do {
            outcome = try ConnectionProbe.connect(
                context: MessageContext(), address: address, security: configuration.security, timeout: Self.patience)
        } catch {
            throw .noAddress(address, error)
        }
        switch outcome {
        case .connected: return
        case .unreachable: throw .noAnswer(at: address)
        case .broken: throw .brokenConnection(to: address)
        case .unauthorized, .mismatched:
            throw Failure(
                .transport, "The coordinator at \(address) does not take this node's key.",
                advice:
                    "Show a key of the role worker with --key; `weft keys new` makes it on the coordinator's machine.",
                fault: .settings, exitCode: .notPermitted)
        }
    }
}
