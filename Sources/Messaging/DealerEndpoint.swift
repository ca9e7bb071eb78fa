/// Sends to the peer of a dealer, from any thread.
package struct DealerSender: Sendable {
    let queue: any MessageQueue

    /// Queues a message; messages of one thread keep their order. Never waits. While the peer is away messages are kept and
    /// sent when it is back.
    /// - Throws: `.congested` above `SocketOptions.maximumPeerBytes`, `.stopped`, `.invalid` without frames.
    package func send(_ frames: [MessageFrame]) throws(MessagingError) {
        try queue.enqueue(OutgoingMessage(peer: nil, frames: frames))
    }
}

/// The side that connects: a DEALER socket on its own thread. It connects again by itself when the connection is lost.
package final class DealerEndpoint<Handler: EndpointHandler>: Sendable {
    package let sender: DealerSender
    private let thread: EndpointThread<Handler>

    /// Starts; connecting goes on behind. An address that can never work is an error at once, a peer that is away is none.
    /// - Parameters:
    ///   - security: needed where the peer asks for keys.
    ///   - name: of the thread.
    ///   - tick: how often the handler's `tick` is called; `nil` for never.
    ///   - makeHandler: called once, on the endpoint's thread, where the handler lives and dies.
    package init(
        context: MessageContext, address: String, security: ClientSecurity? = nil,
        options: SocketOptions = SocketOptions(), name: String = "weft-dealer", tick: Duration? = nil,
        makeHandler: @escaping @Sendable (DealerSender) -> Handler
    ) throws(MessagingError) {
        // There is one peer: whoever sends too much for it is told at once.
        let limit = min(options.maximumQueuedBytes, options.maximumPeerBytes)
        let thread = try EndpointThread<Handler>(maximumQueuedBytes: limit)
        let sender = DealerSender(queue: thread.outbox)
        let setup = EndpointThread<Handler>.Setup(
            name: name, type: .dealer, options: options, tick: tick,
            attach: { (socket) throws(MessagingError) in
                try options.applyLiveness(to: socket, address: address)
                try security?.apply(to: socket)
                try socket.connect(address)
                return [address]
            },
            makeHandler: { makeHandler(sender) })
        _ = try thread.start(setup, context: context)
        self.thread = thread
        self.sender = sender
    }

    package func send(_ frames: [MessageFrame]) throws(MessagingError) { try sender.send(frames) }

    /// Calls `body` on the endpoint's thread, in order with messages sent from this thread.
    /// - Returns: `false` when the endpoint was stopped: `body` will not be called.
    @discardableResult
    package func perform(_ body: @escaping @Sendable (Handler) -> Void) -> Bool { thread.outbox.perform(body) }

    /// Hands what was queued to libzmq as far as it takes it, closes the socket and ends the thread. May be called more than
    /// once and from any thread; on the endpoint's own it does not wait.
    package func stop() { thread.stop() }

    deinit { thread.stop() }
}
