internal import Foundation
internal import Synchronization

/// Finds out whether somebody answers at an address, and whether they take our key.
package enum ConnectionProbe {
    package enum Outcome: Hashable, Sendable {
        case connected
        /// Nobody answered in time.
        case unreachable
        /// Our key is not allowed.
        case unauthorized
        /// The other side wants a key and we have none, or the other way round, or it is no coordinator.
        case mismatched
        /// Every connection ended in its handshake: somebody takes connections and wants none of us.
        case broken
    }

    /// Blocks until the first handshake, or for `timeout`.
    package static func connect(
        context: MessageContext, address: String, security: ClientSecurity?, timeout: Duration
    ) throws(MessagingError) -> Outcome {
        let signal = OutcomeSignal()
        var options = SocketOptions()
        options.reportsConnections = true
        options.linger = .zero
        let endpoint = try DealerEndpoint(
            context: context, address: address, security: security, options: options, name: "weft-probe"
        ) { _ in ProbeHandler(signal) }
        let outcome = signal.wait(timeout)
        endpoint.stop()
        return settled(outcome ?? .unreachable, address: address, hasKey: security != nil)
    }

    /// A handshake that broke may have broken because the two sides want different things: the other side's greeting tells.
    /// Blocks for up to two seconds where the outcome is `broken`.
    package static func settled(_ outcome: Outcome, address: String, hasKey: Bool) -> Outcome {
        guard outcome == .broken, let mechanism = PeerGreeting.mechanism(at: address) else { return outcome }
        return mechanism == (hasKey ? "CURVE" : "NULL") ? outcome : .mismatched
    }
}

private final class OutcomeSignal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let outcome = Mutex<ConnectionProbe.Outcome?>(nil)
    private let hasBroken = Atomic<Bool>(false)

    /// Another try may do better.
    func noteBreak() { hasBroken.store(true, ordering: .relaxed) }

    func send(_ value: ConnectionProbe.Outcome) {
        outcome.withLock { if $0 == nil { $0 = value } }
        semaphore.signal()
    }

    func wait(_ timeout: Duration) -> ConnectionProbe.Outcome? {
        _ = semaphore.wait(timeout: .now() + .milliseconds(Int(timeout.milliseconds)))
        return outcome.withLock { $0 } ?? (hasBroken.load(ordering: .relaxed) ? .broken : nil)
    }
}

private final class ProbeHandler: EndpointHandler {
    private let signal: OutcomeSignal

    init(_ signal: OutcomeSignal) { self.signal = signal }

    func received(_ message: ReceivedMessage) {}

    func connection(_ event: ConnectionEvent) {
        switch event.kind {
        case .connected: signal.send(.connected)
        case .unauthorized: signal.send(.unauthorized)
        case .handshakeFailed: signal.send(.mismatched)
        case .handshakeBroken: signal.noteBreak()
        case .disconnected: break
        }
    }
}
