internal import Foundation
internal import Synchronization

/// An event loop with its thread, from a start that reports its errors to an end that can be awaited.
final class EndpointThread<Handler: EndpointHandler>: Sendable {
    let outbox: Outbox<Handler>
    private let ended = Signal<Void>()
    private let thread = Mutex<pthread_t?>(nil)

    /// What the thread sets up before it runs.
    struct Setup: Sendable {
        let name: String
        let type: SocketType
        let options: SocketOptions
        let tick: Duration?
        /// Binds or connects; returns the addresses.
        let attach: @Sendable (borrowing Socket) throws(MessagingError) -> [String]
        let makeHandler: @Sendable () -> Handler
    }

    init(maximumQueuedBytes: Int) throws(MessagingError) {
        outbox = try Outbox(maximumBytes: maximumQueuedBytes)
    }

    /// - Returns: the addresses, once the socket has them.
    func start(_ setup: Setup, context: MessageContext) throws(MessagingError) -> [String] {
        let started = Signal<Result<[String], MessagingError>>()
        let thread = Thread { [self] in
            self.thread.withLock { $0 = pthread_self() }
            body(setup, context: context, started: started)
            ended.send(())
        }
        thread.name = setup.name
        thread.start()
        return try started.wait().get()
    }

    private func body(
        _ setup: Setup, context: MessageContext, started: Signal<Result<[String], MessagingError>>
    ) {
        do throws(MessagingError) {
            let socket = try context.socket(setup.type)
            try setup.options.apply(to: socket, type: setup.type)
            let monitor: SocketMonitor? =
                if setup.options.reportsConnections { try SocketMonitor(of: socket, context: context) } else { nil }
            let addresses = try setup.attach(socket)
            var loop = EventLoop(
                socket: socket, monitor: monitor, type: setup.type, options: setup.options, outbox: outbox,
                handler: setup.makeHandler(), tick: setup.tick)
            started.send(.success(addresses))
            loop.run()
        } catch {
            _ = outbox.end()
            started.send(.failure(error))
        }
    }

    /// Lets the loop do what was asked before, then ends it. Waits for the end, except on the loop's own thread.
    func stop() {
        outbox.requestStop()
        let isOwn = thread.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
        if !isOwn { ended.wait() }
    }
}

/// A value that one thread sends once and others wait for.
final class Signal<Value: Sendable>: Sendable {
    private let condition = NSCondition()
    private let value = Mutex<Value?>(nil)

    func send(_ value: Value) {
        condition.lock()
        self.value.withLock { $0 = value }
        condition.broadcast()
        condition.unlock()
    }

    @discardableResult
    func wait() -> Value {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let value = value.withLock({ $0 }) { return value }
            condition.wait()
        }
    }
}
