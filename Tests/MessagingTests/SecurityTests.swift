import Foundation
import Testing

@testable import Messaging

@Suite(.serialized, .timeLimit(.minutes(2))) struct SecurityTests {
    let context: MessageContext
    let directory: IPCDirectory
    let server: CurveKeyPair
    let worker: CurveKeyPair
    let client: CurveKeyPair
    let authenticator: Authenticator
    let router: RouterEndpoint<Recorder>
    let routed = Journal()

    /// One router: open over ipc, with keys over tcp.
    init() throws {
        context = try MessageContext()
        directory = try IPCDirectory()
        server = try .generate()
        let (worker, client) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
        (self.worker, self.client) = (worker, client)
        authenticator = try Authenticator(context: context) { key, _ in
            if key == worker.publicKey { return .worker }
            return key == client.publicKey ? .client : nil
        }
        let routed = routed
        var options = SocketOptions()
        options.reportsConnections = true
        options.handshakeInterval = .seconds(1)
        router = try RouterEndpoint(
            context: context,
            bindings: [
                Binding("tcp://127.0.0.1:*", security: .curve(server, authenticator)),
                Binding(try directory.address("open")),
            ], options: options
        ) { _ in Recorder(routed) }
    }

    func dealer(
        _ address: String, _ security: ClientSecurity?, _ journal: Journal = Journal()
    ) throws -> DealerEndpoint<Recorder> {
        var options = SocketOptions()
        options.reportsConnections = true
        return try DealerEndpoint(context: MessageContext(), address: address, security: security, options: options) {
            _ in
            Recorder(journal)
        }
    }

    @Test("A known key comes in with its role, its key and its address")
    func accepted() throws {
        let first = try dealer(router.addresses[0], ClientSecurity(keys: worker, server: server.publicKey))
        try first.send(frames("from worker", ""))
        #expect(routed.wait { $0.messages.count == 1 })
        let second = try dealer(router.addresses[0], ClientSecurity(keys: client, server: server.publicKey))
        try second.send(frames("from client"))
        #expect(routed.wait { $0.messages.count == 2 })
        #expect(routed.now.messages.map(\.role) == [.worker, .client])
        #expect(routed.now.messages.map(\.publicKey) == [worker.publicKey, client.publicKey])
        #expect(routed.now.messages.first?.peerAddress.contains("127.0.0.1") == true)
    }

    @Test("A frame of exactly one mebibyte passes the limit with encryption around it")
    func fullChunk() throws {
        let dealer = try dealer(router.addresses[0], ClientSecurity(keys: worker, server: server.publicKey))
        try dealer.send([MessageFrame([UInt8](repeating: 3, count: 1 << 20))])
        #expect(routed.wait { $0.messages.count == 1 })
    }

    @Test("An unknown key is refused and told so; nothing of it arrives")
    func unknownKey() throws {
        let journal = Journal()
        let stranger = ClientSecurity(keys: try .generate(), server: server.publicKey)
        let dealer = try dealer(router.addresses[0], stranger, journal)
        try dealer.send(frames("let me in"))
        #expect(journal.wait { $0.events.contains { $0.kind == .unauthorized(400) } })
        #expect(routed.now.messages.isEmpty)
    }

    @Test("A peer without keys does not get in where keys are asked for")
    func noKeys() throws {
        let dealer = try dealer(router.addresses[0], nil)
        try dealer.send(frames("let me in"))
        #expect(routed.wait { $0.events.contains { $0.kind == .handshakeFailed || $0.kind == .disconnected } })
        #expect(routed.now.messages.isEmpty)
    }

    @Test("Where a handshake breaks, the other side's greeting tells whether it wants keys")
    func greeting() throws {
        let address = router.addresses[0]
        #expect(ConnectionProbe.settled(.broken, address: address, hasKey: false) == .mismatched)
        #expect(ConnectionProbe.settled(.broken, address: address, hasKey: true) == .broken)
        // Nobody is there, and what says nothing of itself.
        #expect(ConnectionProbe.settled(.broken, address: "tcp://127.0.0.1:9", hasKey: false) == .broken)
        #expect(ConnectionProbe.settled(.broken, address: router.addresses[1], hasKey: false) == .broken)
        #expect(ConnectionProbe.settled(.unreachable, address: address, hasKey: false) == .unreachable)
    }

    @Test("A server with another key than expected gets nothing")
    func wrongServer() throws {
        let journal = Journal()
        let wrong = ClientSecurity(keys: worker, server: try CurveKeyPair.generate().publicKey)
        let dealer = try dealer(router.addresses[0], wrong, journal)
        try dealer.send(frames("secret"))
        #expect(routed.wait { !$0.events.isEmpty })
        #expect(routed.now.messages.isEmpty)
        #expect(!journal.now.events.contains { $0.kind == .connected })
    }

    @Test("The same router is open over ipc, without a role")
    func openBinding() throws {
        let dealer = try dealer(router.addresses[1], nil)
        try dealer.send(frames("local"))
        #expect(routed.wait { $0.messages.count == 1 })
        #expect(routed.now.messages.first?.role == nil)
        #expect(routed.now.messages.first?.publicKey == nil)
    }

    @Test("When the authenticator is gone nobody gets in")
    func failClosed() throws {
        authenticator.stop()
        let journal = Journal()
        let dealer = try dealer(router.addresses[0], ClientSecurity(keys: worker, server: server.publicKey), journal)
        try dealer.send(frames("let me in"))
        #expect(journal.wait { $0.events.contains { $0.kind != .connected } })
        #expect(routed.now.messages.isEmpty)
    }

    @Test("A context has one authenticator")
    func oneAuthenticator() throws {
        let error = #expect(throws: MessagingError.self) { try Authenticator(context: context) { _, _ in nil } }
        #expect(error?.code == .addressInUse)
    }
}

@Suite struct CurveKeyTests {
    @Test("Keys are their text and back")
    func roundTrip() throws {
        let pair = try CurveKeyPair.generate()
        #expect(CurveKeyPair(secretText: pair.secretText) == pair)
        #expect(CurvePublicKey(pair.publicKey.text) == pair.publicKey)
        #expect(try CurveKeyPair.generate() != pair)
    }

    @Test("Other texts are no keys")
    func refused() {
        let short = String(repeating: "a", count: 39)
        for text in [
            "", short, short + "é", short + " ", short + "aa", short + "\"", String(repeating: "#", count: 40),
        ] {
            #expect(CurvePublicKey(text) == nil, "\(text)")
        }
    }

    @Test("A secret is not shown by printing its pair")
    func description() throws {
        let pair = try CurveKeyPair.generate()
        var dumped = ""
        dump(pair.description, to: &dumped)
        #expect(!dumped.contains(pair.secretText) && !"\(pair)".contains(pair.secretText))
    }
}

@Suite struct BindingTests {
    @Test(
        "Only addresses that this machine alone reaches are local",
        arguments: [
            ("ipc:///tmp/x", true), ("inproc://x", true), ("tcp://127.0.0.1:5555", true), ("tcp://127.9.9.9:*", true),
            ("tcp://localhost:1", true), ("tcp://[::1]:1", true), ("tcp://*:1", false), ("tcp://0.0.0.0:1", false),
            ("tcp://10.0.0.1:1", false), ("tcp://127.evil.example:1", false), ("tcp://[::]:1", false),
            ("tcp://localhost.evil.example:1", false), ("tcp://127.0.0.1.example:1", false), ("tcp://", false),
            ("tcp:", false),
        ])
    func isLocal(address: String, expected: Bool) {
        #expect(Binding.isLocal(address) == expected)
    }
}
