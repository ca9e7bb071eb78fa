/// Metadata that our authenticator attaches to every message of an accepted peer: its public key in Z85.
let zapKeyProperty = "X-Weft-Key"

/// Decides for every connecting key what it may do: the ZAP handler of a context (ZeroMQ RFC 27), on its own thread.
///
/// There is at most one for a context. Routers keep theirs alive; were it gone, bindings with keys would refuse everybody.
package final class Authenticator: Sendable {
    /// - Parameters: the key that the peer has proved to hold, and its network address.
    /// - Returns: `nil` to refuse.
    package typealias Authorize = @Sendable (_ key: CurvePublicKey, _ address: String) -> PeerRole?

    private let endpoint: RouterEndpoint<ZAPHandler>

    /// - Throws: `.addressInUse` when the context has one.
    package init(context: MessageContext, authorize: @escaping Authorize) throws(MessagingError) {
        endpoint = try RouterEndpoint(
            context: context, bindings: [Binding("inproc://zeromq.zap.01")], name: "weft-zap"
        ) { sender in
            ZAPHandler(sender: sender, authorize: authorize)
        }
    }

    func stop() { endpoint.stop() }
}

/// Answers requests of version 1.0.
private final class ZAPHandler: EndpointHandler {
    private let sender: RouterSender
    private let authorize: Authenticator.Authorize

    init(sender: RouterSender, authorize: @escaping Authenticator.Authorize) {
        self.sender = sender
        self.authorize = authorize
    }

    /// Request: empty, version, request id, domain, address, identity, mechanism, credentials.
    func received(_ message: ReceivedMessage) {
        guard let peer = message.peer, message.frames.count >= 7 else { return }
        let fields = message.frames.map(\.bytes)
        guard fields[0].isEmpty, fields[1] == Array("1.0".utf8) else { return }
        let grant = grant(fields)
        let reply: [[UInt8]] =
            if let grant {
                [Array("200".utf8), Array("OK".utf8), Array(grant.role.rawValue.utf8), metadata(grant.key)]
            } else {
                [Array("400".utf8), Array("The key is not allowed".utf8), [], []]
            }
        let frames = ([[], fields[1], fields[2]] + reply).map { MessageFrame($0) }
        // Fails only while the endpoint stops, when connections end anyway.
        try? sender.send(frames, to: peer)
    }

    private func grant(_ fields: [[UInt8]]) -> (role: PeerRole, key: CurvePublicKey)? {
        guard fields.count == 8, fields[6] == Array("CURVE".utf8), let key = CurvePublicKey(bytes: fields[7]) else {
            return nil
        }
        let address = String(decoding: fields[4], as: UTF8.self)
        guard let role = authorize(key, address), (1...255).contains(role.rawValue.utf8.count) else { return nil }
        return (role, key)
    }

    /// A ZMTP property (ZeroMQ RFC 23): length and name, four bytes of length and the value.
    private func metadata(_ key: CurvePublicKey) -> [UInt8] {
        let value = Array(key.text.utf8)
        return [UInt8(zapKeyProperty.utf8.count)] + Array(zapKeyProperty.utf8) + [0, 0, 0, UInt8(value.count)] + value
    }
}
