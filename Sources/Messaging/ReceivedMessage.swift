/// The name under which a router knows a connection. Unless the peer chose one, it is new with every connection.
package struct PeerIdentity: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var description: String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

/// What a key may do, as the authorizer of the server decided.
package struct PeerRole: RawRepresentable, Hashable, Sendable {
    /// 1 to 255 bytes.
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    package static let worker = PeerRole(rawValue: "worker")
    package static let client = PeerRole(rawValue: "client")
    package static let observer = PeerRole(rawValue: "observer")
}

/// One whole message from a peer.
package struct ReceivedMessage: Sendable {
    /// Who sent it; `nil` at a dealer, which has one peer.
    package let peer: PeerIdentity?
    /// At least one.
    package let frames: [MessageFrame]

    /// The role of the peer's key. `nil` over a binding without keys, where whoever can connect is trusted.
    package var role: PeerRole? { frames.first?.property("User-Id").map(PeerRole.init(rawValue:)) }

    /// The peer's key, `nil` over a binding without keys. Trustworthy only where `role` is required, that is, where every
    /// binding that strangers can reach has keys.
    package var publicKey: CurvePublicKey? { frames.first?.property(zapKeyProperty).flatMap { CurvePublicKey($0) } }

    /// The peer's network address; over ipc `:uid:gid:pid`; empty where unknown.
    package var peerAddress: String { frames.first?.property("Peer-Address") ?? "" }
}
