internal import CZeroMQ
internal import Foundation

/// The life of one socket on its own thread: poll, receive, carry out commands, tick.
struct EventLoop<Handler: EndpointHandler>: ~Copyable {
    private let socket: Socket
    private let monitor: SocketMonitor?
    private let type: SocketType
    private let options: SocketOptions
    private let outbox: Outbox<Handler>
    private let handler: Handler
    private let interval: Duration?
    private var delivery: Delivery
    private var nextTick: ContinuousClock.Instant

    /// Messages taken in a row before commands and ticks get their turn.
    private static var receiveBurst: Int { 128 }
    /// How often a router tries a peer whose high-water mark was reached: ZMQ_POLLOUT says only that some peer can take more.
    private static var retryMilliseconds: Int { 5 }

    init(
        socket: consuming Socket, monitor: SocketMonitor?, type: SocketType, options: SocketOptions,
        outbox: Outbox<Handler>, handler: Handler, tick interval: Duration?
    ) {
        self.socket = socket
        self.monitor = monitor
        self.type = type
        self.options = options
        self.outbox = outbox
        self.handler = handler
        self.interval = interval
        delivery = Delivery(maximumPeerBytes: options.maximumPeerBytes)
        nextTick = ContinuousClock.now + (interval ?? .zero)
    }

    /// Returns when the endpoint is stopped or the context ends.
    mutating func run() {
        var failure: MessagingError?
        do throws(MessagingError) {
            repeat {
                try wait()
                try receive()
                try reportConnections()
                carryOut(outbox.take())
                retry()
                tickWhenDue()
            } while !outbox.isStopping
            carryOut(outbox.take())
        } catch {
            failure = error
        }
        finish(failure)
    }

    // MARK: Steps

    private func wait() throws(MessagingError) {
        let mayWait = outbox.prepareToWait()
        defer { outbox.endWait() }
        var items = [
            zmq_pollitem_t(socket: socket.pointer, fd: 0, events: socketEvents, revents: 0),
            zmq_pollitem_t(socket: nil, fd: outbox.pipe.readEnd, events: Int16(ZMQ_POLLIN), revents: 0),
        ]
        if let pointer = monitor?.events.pointer {
            items.append(zmq_pollitem_t(socket: pointer, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0))
        }
        let timeout = mayWait ? pollMilliseconds : 0
        if zmq_poll(&items, Int32(items.count), timeout) == -1 {
            // A signal: the caller looks at everything and comes back.
            guard zmq_errno() == Int32(EINTR) else { throw .last("wait for messages") }
        }
        if items[1].revents != 0 { outbox.pipe.clear() }
    }

    private var socketEvents: Int16 {
        Int16(ZMQ_POLLIN) | (delivery.isBlocked && type == .dealer ? Int16(ZMQ_POLLOUT) : 0)
    }

    /// -1 for as long as it takes.
    private var pollMilliseconds: Int {
        var timeout = -1
        if interval != nil { timeout = max(0, Int((nextTick - ContinuousClock.now).milliseconds)) }
        if delivery.isBlocked, type == .router {
            timeout = timeout < 0 ? Self.retryMilliseconds : min(timeout, Self.retryMilliseconds)
        }
        return timeout
    }

    private func receive() throws(MessagingError) {
        for _ in 0..<Self.receiveBurst {
            switch try socket.receive(maximumFrames: options.maximumFrames) {
            case .none: return
            case .frames(let frames): deliver(frames)
            case .tooLarge(let first):
                let peer = type == .router ? first : nil
                let detail = "it has more than \(options.maximumFrames) frames"
                handler.dropped(from: peer, error: MessagingError(.tooLarge, "take a message", detail))
            }
        }
    }

    private func deliver(_ frames: [MessageFrame]) {
        guard type == .router else { return handler.received(ReceivedMessage(peer: nil, frames: frames)) }
        // A router puts the sender before the message; a peer can send an empty rest, which says nothing.
        guard frames.count > 1 else { return }
        handler.received(ReceivedMessage(peer: PeerIdentity(frames[0].bytes), frames: Array(frames.dropFirst())))
    }

    private func reportConnections() throws(MessagingError) {
        while let event = try monitor?.next() { handler.connection(event) }
    }

    private mutating func carryOut(_ commands: [Outbox<Handler>.Command]) {
        for command in commands {
            switch command {
            case .perform(let body): body(handler)
            case .send(let message):
                delivery.submit(message, through: socket) { [outbox, handler] in
                    Self.settle($0, $1, outbox: outbox, handler: handler)
                }
            }
        }
    }

    private mutating func retry() {
        guard delivery.isBlocked else { return }
        delivery.retry(through: socket) { [outbox, handler] in
            Self.settle($0, $1, outbox: outbox, handler: handler)
        }
    }

    private static func settle(
        _ message: OutgoingMessage, _ error: MessagingError?, outbox: Outbox<Handler>, handler: Handler
    ) {
        outbox.release(bytes: message.size)
        if let error { handler.undeliverable(message.frames, to: message.peer, error: error) }
    }

    private mutating func tickWhenDue() {
        guard let interval else { return }
        let now = ContinuousClock.now
        guard now >= nextTick else { return }
        // After a long call, ticks that were missed are not made up for.
        nextTick = max(nextTick + interval, now)
        handler.tick()
    }

    private mutating func finish(_ failure: MessagingError?) {
        let error = failure ?? MessagingError(.stopped, "send a message", "the endpoint was stopped")
        delivery.abandon(error) { [outbox, handler] in Self.settle($0, $1, outbox: outbox, handler: handler) }
        for case .send(let message) in outbox.end() {
            Self.settle(message, error, outbox: outbox, handler: handler)
        }
        handler.stopped(failure)
    }
}
