internal import CZeroMQ

/// An address that a router listens at, and who may come in there.
package struct Binding: Sendable {
    package enum Security: Sendable {
        /// Whoever can connect is trusted. Only for ipc in a private directory and for loopback.
        case open
        /// Peers prove their key; the authenticator says what each may do.
        case curve(CurveKeyPair, Authenticator)
    }

    /// `ipc://PATH` or `tcp://HOST:PORT`; a port of `*` takes a free one.
    package var address: String
    package var security: Security

    package init(_ address: String, security: Security = .open) {
        self.address = address
        self.security = security
    }

    /// The address can be reached from this machine only: `ipc://`, `inproc://`, or tcp on a loopback address.
    package var isLocal: Bool { Binding.isLocal(address) }

    package static func isLocal(_ address: String) -> Bool {
        if address.hasPrefix("ipc://") || address.hasPrefix("inproc://") { return true }
        guard address.hasPrefix("tcp://"), let colon = address.lastIndex(of: ":") else { return false }
        let start = address.index(address.startIndex, offsetBy: 6)
        let host = address[start..<max(start, colon)]
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Binds all of `bindings`.
    ///
    /// libzmq gives each listener the options in force when it is bound, so one router can be open here and closed there. The
    /// open ones go first: a ZAP domain makes libzmq ask about peers without keys, too, and cannot be taken back.
    /// - Returns: the addresses in the order of `bindings`, wildcards resolved.
    static func bind(
        _ bindings: [Binding], to socket: borrowing Socket, options: SocketOptions
    ) throws(MessagingError) -> [String] {
        var addresses = bindings.map(\.address)
        for isOpenTurn in [true, false] {
            for (index, binding) in bindings.enumerated() where binding.isOpen == isOpenTurn {
                try options.applyLiveness(to: socket, address: binding.address)
                if case .curve(let keys, _) = binding.security { try Self.demandKeys(of: keys, at: socket) }
                addresses[index] = try socket.bind(binding.address)
            }
        }
        return addresses
    }

    private var isOpen: Bool {
        if case .open = security { true } else { false }
    }

    private static func demandKeys(of server: CurveKeyPair, at socket: borrowing Socket) throws(MessagingError) {
        // Both together make libzmq refuse peers when nobody answers for authentication; else it would let all in. A library that
        // does not know the second is safe, too: the router keeps its authenticator alive.
        try socket.set(ZMQ_ZAP_DOMAIN, Array("weft".utf8), "ZMQ_ZAP_DOMAIN")
        try? socket.set(Int32(WEFT_ZMQ_ZAP_ENFORCE_DOMAIN), Int32(1), "ZMQ_ZAP_ENFORCE_DOMAIN")
        try socket.set(ZMQ_CURVE_SERVER, Int32(1), "ZMQ_CURVE_SERVER")
        try socket.set(ZMQ_CURVE_SECRETKEY, server.secret, "ZMQ_CURVE_SECRETKEY")
    }
}

/// How a dealer proves itself, and whom it expects at the other end.
package struct ClientSecurity: Sendable {
    package var keys: CurveKeyPair
    package var server: CurvePublicKey

    package init(keys: CurveKeyPair, server: CurvePublicKey) {
        self.keys = keys
        self.server = server
    }

    func apply(to socket: borrowing Socket) throws(MessagingError) {
        try socket.set(ZMQ_CURVE_SERVERKEY, server.bytes, "ZMQ_CURVE_SERVERKEY")
        try socket.set(ZMQ_CURVE_PUBLICKEY, keys.publicKey.bytes, "ZMQ_CURVE_PUBLICKEY")
        try socket.set(ZMQ_CURVE_SECRETKEY, keys.secret, "ZMQ_CURVE_SECRETKEY")
    }
}
