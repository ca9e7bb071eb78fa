/// Sends to the peers of a router, from any thread.
package struct RouterSender: Sendable {
    let queue: any MessageQueue

    /// Queues a message; messages of one thread to one peer keep their order. Never waits.
    ///
    /// What turns out later (the peer is gone) is reported to the handler's `undeliverable`.
    /// - Throws: `.congested` above `SocketOptions.maximumQueuedBytes`, `.stopped`, `.invalid` without frames.
    package func send(_ frames: [MessageFrame], to peer: PeerIdentity) throws(MessagingError) {
        try queue.enqueue(OutgoingMessage(peer: peer, frames: frames))
    }
}

/// The side that many peers connect to: a ROUTER socket on its own thread.
package final class RouterEndpoint<Handler: EndpointHandler>: Sendable {
    package let sender: RouterSender
    /// The bound addresses in the order of the bindings, wildcards resolved.
    package let addresses: [String]
    /// Keeps the authenticators of the bindings alive as long as peers can connect.
    private let bindings: [Binding]
    private let thread: EndpointThread<Handler>

    /// Binds and starts; returns when peers can connect.
    /// - Parameters:
    ///   - name: of the thread.
    ///   - tick: how often the handler's `tick` is called; `nil` for never.
    ///   - makeHandler: called once, on the endpoint's thread, where the handler lives and dies.
    package init(
        context: MessageContext, bindings: [Binding], options: SocketOptions = SocketOptions(),
        name: String = "weft-router", tick: Duration? = nil,
        makeHandler: @escaping @Sendable (RouterSender) -> Handler
    ) throws(MessagingError) {
        let thread = try EndpointThread<Handler>(maximumQueuedBytes: options.maximumQueuedBytes)
        let sender = RouterSender(queue: thread.outbox)
        let setup = EndpointThread<Handler>.Setup(
            name: name, type: .router, options: options, tick: tick,
            attach: { (socket) throws(MessagingError) in
                try Binding.bind(bindings, to: socket, options: options)
            },
            makeHandler: { makeHandler(sender) })
        addresses = try thread.start(setup, context: context)
        self.bindings = bindings
        self.thread = thread
        self.sender = sender
    }

    package func send(_ frames: [MessageFrame], to peer: PeerIdentity) throws(MessagingError) {
        try sender.send(frames, to: peer)
    }

    /// Calls `body` on the endpoint's thread, in order with messages sent from this thread.
    /// - Returns: `false` when the endpoint was stopped: `body` will not be called.
    @discardableResult
    package func perform(_ body: @escaping @Sendable (Handler) -> Void) -> Bool { thread.outbox.perform(body) }

    /// Hands what was queued to libzmq as far as it takes it, closes the socket and ends the thread. May be called more than
    /// once and from any thread; on the endpoint's own it does not wait.
    ///
    /// libzmq's I/O thread closes the listeners a moment later; they are surely closed when the context has ended.
    package func stop() { thread.stop() }

    deinit { thread.stop() }
}
