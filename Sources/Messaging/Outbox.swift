internal import Synchronization

/// A message on its way out.
struct OutgoingMessage: Sendable {
    let peer: PeerIdentity?
    let frames: [MessageFrame]
    let size: Int

    init(peer: PeerIdentity?, frames: [MessageFrame]) {
        self.peer = peer
        self.frames = frames
        size = frames.reduce(0) { $0 + $1.count }
    }
}

/// Where any thread leaves messages for an endpoint's thread.
protocol MessageQueue: Sendable {
    func enqueue(_ message: OutgoingMessage) throws(MessagingError)
}

/// What other threads want of an endpoint's thread, in order.
final class Outbox<Handler: EndpointHandler>: MessageQueue {
    enum Command {
        case send(OutgoingMessage)
        case perform(@Sendable (Handler) -> Void)
    }

    private struct State {
        var commands: [Command] = []
        /// Bytes accepted and not yet handed to libzmq or given up.
        var queuedBytes = 0
        /// The thread is about to poll, or polls: it must be woken.
        var isWaiting = false
        var isStopping = false
        var isEnded = false
    }

    private let state = Mutex(State())
    private let maximumBytes: Int
    let pipe: WakePipe

    init(maximumBytes: Int) throws(MessagingError) {
        self.maximumBytes = maximumBytes
        pipe = try WakePipe()
    }

    // MARK: Any thread

    func enqueue(_ message: OutgoingMessage) throws(MessagingError) {
        guard !message.frames.isEmpty else {
            throw MessagingError(.invalid, "send a message", "it has no frames")
        }
        let refusal: MessagingError? = state.withLock { state in
            if state.isStopping || state.isEnded {
                return MessagingError(.stopped, "send a message", "the endpoint was stopped")
            }
            guard state.queuedBytes + message.size <= maximumBytes else {
                return MessagingError(.congested, "send a message", "\(state.queuedBytes) bytes are queued")
            }
            state.queuedBytes += message.size
            state.commands.append(.send(message))
            wakeIfWaiting(&state)
            return nil
        }
        if let refusal { throw refusal }
    }

    /// - Returns: `false` when the endpoint was stopped: `body` will not be called.
    func perform(_ body: @escaping @Sendable (Handler) -> Void) -> Bool {
        state.withLock { state in
            guard !state.isStopping, !state.isEnded else { return false }
            state.commands.append(.perform(body))
            wakeIfWaiting(&state)
            return true
        }
    }

    func requestStop() {
        state.withLock { state in
            state.isStopping = true
            wakeIfWaiting(&state)
        }
    }

    private func wakeIfWaiting(_ state: inout State) {
        guard state.isWaiting else { return }
        state.isWaiting = false
        pipe.wake()
    }

    // MARK: The endpoint's thread

    /// All commands so far.
    func take() -> [Command] {
        state.withLock { state in
            var commands: [Command] = []
            swap(&commands, &state.commands)
            return commands
        }
    }

    /// - Returns: `false` when something is to be done first, so that a poll must not wait.
    func prepareToWait() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty, !state.isStopping else { return false }
            state.isWaiting = true
            return true
        }
    }

    func endWait() { state.withLock { $0.isWaiting = false } }

    func release(bytes: Int) { state.withLock { $0.queuedBytes -= bytes } }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Nothing is accepted any more.
    /// - Returns: what was not done.
    func end() -> [Command] {
        state.withLock { state in
            state.isEnded = true
            var commands: [Command] = []
            swap(&commands, &state.commands)
            return commands
        }
    }
}
