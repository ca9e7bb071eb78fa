/// What happens at an endpoint. All calls come on the endpoint's own thread, one at a time, so a handler keeps its state
/// without locks; a call that takes long holds up the endpoint's messages.
package protocol EndpointHandler: AnyObject, SendableMetatype {
    func received(_ message: ReceivedMessage)
    /// A message could not be delivered: the peer is unknown or gone (`.unroutable`), or does not keep up (`.congested`).
    func undeliverable(_ frames: [MessageFrame], to peer: PeerIdentity?, error: MessagingError)
    /// Called at the endpoint's tick interval, also when nothing arrives.
    func tick()
    /// Only with `SocketOptions.reportsConnections`.
    func connection(_ event: ConnectionEvent)
    /// A message was dropped because it had too many frames.
    func dropped(from peer: PeerIdentity?, error: MessagingError)
    /// The last call. `error` is `nil` after `stop`.
    func stopped(_ error: MessagingError?)
}

extension EndpointHandler {
    package func undeliverable(_ frames: [MessageFrame], to peer: PeerIdentity?, error: MessagingError) {}
    package func tick() {}
    package func connection(_ event: ConnectionEvent) {}
    package func dropped(from peer: PeerIdentity?, error: MessagingError) {}
    package func stopped(_ error: MessagingError?) {}
}

/// What the transport under an endpoint did.
package struct ConnectionEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The handshake is done.
        case connected
        case disconnected
        /// The peer's authenticator refused our key, or ours refused the peer's (ZAP status code).
        case unauthorized(Int32)
        /// The peer does not speak the same security mechanism, proved another key, or is no ZeroMQ peer.
        case handshakeFailed
        /// The connection ended in the middle of the handshake. So do servers that cannot read what our key says; and so does
        /// whatever stands before a coordinator that is not there yet (a tunnel, a proxy), so it is worth another try.
        case handshakeBroken
    }

    package let kind: Kind
    /// The address of the connection.
    package let address: String
}
