import Foundation
import Support
import Testing

@testable import Messaging

/// Connections over a relay that does to them what networks do.
@Suite("Bad networks", .serialized, .timeLimit(.minutes(2))) struct RelayTests {
    let context: MessageContext
    let server: CurveKeyPair
    let client: CurveKeyPair
    let authenticator: Authenticator
    let router: RouterEndpoint<Recorder>
    let relay: TCPRelay
    let routed = Journal()

    init() throws {
        context = try MessageContext()
        server = try .generate()
        client = try .generate()
        authenticator = try Authenticator(context: context) { _, _ in .worker }
        let routed = routed
        var options = Self.options
        options.reportsConnections = true
        router = try RouterEndpoint(
            context: context, bindings: [Binding("tcp://127.0.0.1:*", security: .curve(server, authenticator))],
            options: options
        ) { _ in Recorder(routed) }
        let port = try #require(router.addresses[0].split(separator: ":").last.flatMap { UInt16($0) })
        relay = try TCPRelay(server: "127.0.0.1", serverPort: port)
    }

    /// As in production, ten times as fast.
    private static var options: SocketOptions {
        var options = SocketOptions()
        options.heartbeatInterval = .milliseconds(200)
        options.heartbeatTimeout = .seconds(1)
        options.handshakeInterval = .seconds(4)
        options.reconnectMaximum = .milliseconds(300)
        options.reportsConnections = true
        return options
    }

    private func dealer(_ journal: Journal = Journal()) throws -> DealerEndpoint<Recorder> {
        try DealerEndpoint(
            context: MessageContext(), address: "tcp://127.0.0.1:\(relay.port)",
            security: ClientSecurity(keys: client, server: server.publicKey), options: Self.options
        ) { _ in Recorder(journal) }
    }

    private func send(_ dealer: DealerEndpoint<Recorder>, says text: String) throws {
        for _ in 0..<100 {
            try dealer.send(frames(text))
            if routed.wait(seconds: 0.2, until: { $0.messages.last?.texts == [text] }) { return }
        }
        Issue.record("\(text) did not arrive")
    }

    @Test("Altered bytes end the connection; none of them is ever delivered, and the peer connects again")
    func altered() throws {
        defer { relay.stop() }
        let dealer = try dealer()
        let text = String(repeating: "intact ", count: 1000)
        relay.conditions.corruptsOneIn = 20_000
        for _ in 0..<100 {
            try dealer.send(frames(text))
            usleep(10_000)
        }
        #expect(relay.tally.alteredBytes > 5)
        relay.conditions.corruptsOneIn = nil
        // What was on a connection that ended is lost: who needs an answer asks again.
        try send(dealer, says: "last")
        #expect(routed.now.messages.allSatisfy { $0.texts == [text] || $0.texts == ["last"] })
        #expect(relay.tally.connections > 1)
    }

    @Test(
        "A connection that is open and says nothing is given up within the heartbeat's time and a second",
        arguments: [[.toServer], [.toClient], [.toServer, .toClient]] as [Set<TCPRelay.Direction>])
    func halfOpen(stalled: Set<TCPRelay.Direction>) throws {
        defer { relay.stop() }
        let journal = Journal()
        let dealer = try dealer(journal)
        #expect(journal.wait { $0.events.contains { $0.kind == .connected } })
        relay.conditions.stalled = stalled
        let began = Date()
        #expect(journal.wait { $0.events.contains { $0.kind == .disconnected } })
        #expect(Date().timeIntervalSince(began) < 3)
        relay.conditions.stalled = []
        relay.reset()
        try send(dealer, says: "again")
    }

    @Test(
        "Messages survive resets as far as they are sent on a connection that lives, and arrive late over a slow link")
    func delayed() throws {
        defer { relay.stop() }
        relay.conditions.delay = 0.2
        let dealer = try dealer()
        let began = Date()
        try dealer.send(frames("slow"))
        #expect(routed.wait { $0.messages.last?.texts == ["slow"] })
        // Greeting, handshake and message: at least two round trips.
        #expect(Date().timeIntervalSince(began) > 0.8)
        relay.reset()
        #expect(routed.wait { $0.events.filter { $0.kind == .connected }.count == 2 })
        try dealer.send(frames("after the reset"))
        #expect(routed.wait { $0.messages.last?.texts == ["after the reset"] })
    }

    @Test("A tunnel with nobody behind it yet is waited for, and named when nobody comes")
    func tunnel() throws {
        relay.stop()
        let empty = try TCPRelay(server: "127.0.0.1", serverPort: 1)
        defer { empty.stop() }
        let outcome = try ConnectionProbe.connect(
            context: context, address: "tcp://127.0.0.1:\(empty.port)",
            security: ClientSecurity(keys: client, server: server.publicKey), timeout: .seconds(1))
        #expect(outcome == .broken)
    }
}
