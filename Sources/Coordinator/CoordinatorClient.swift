package import ClusterProtocol
internal import Foundation
package import Messaging

/// A client's connection to a coordinator: asks one thing at a time and waits for the answer. Blocking; thread-safe.
package final class CoordinatorClient: Sendable {
    /// Where a coordinator listens, and where clients look for it, unless told otherwise.
    package static let defaultAddress = "tcp://127.0.0.1:7733"

    private let address: String
    private let mailbox: Mailbox
    private let endpoint: DealerEndpoint<ClientHandler>

    /// Seconds to wait for a connection, and for the answer to a request.
    private static let connectSeconds = 5.0
    private static let answerSeconds = 60.0

    /// Connects.
    /// - Throws: exit code 69 when nobody answers, 77 when the key is not allowed.
    package init(address: String, security: ClientSecurity?) throws(Failure) {
        let mailbox = Mailbox()
        var options = SocketOptions()
        options.reportsConnections = true
        do {
            endpoint = try DealerEndpoint(
                context: MessageContext(), address: address, security: security, options: options, name: "weft-client"
            ) { _ in ClientHandler(mailbox) }
        } catch {
            throw .noAddress(address, error)
        }
        self.address = address
        self.mailbox = mailbox
        let outcome = mailbox.waitForConnection(seconds: Self.connectSeconds)
        switch ConnectionProbe.settled(outcome, address: address, hasKey: security != nil) {
        case .connected: break
        case .unauthorized:
            throw Failure(
                .transport, "The coordinator at \(address) does not allow this key.",
                advice: "Make one with `weft keys new` on its machine.", fault: .settings, exitCode: .notPermitted)
        case .mismatched:
            throw Failure(
                .transport,
                security == nil
                    ? "The coordinator at \(address) asks for a key."
                    : "The coordinator at \(address) takes no key, or has another one than the key file says.",
                advice: security == nil ? "Show one with --key FILE." : "Check --key and --coordinator.",
                fault: .settings, exitCode: .notPermitted)
        case .broken: throw .brokenConnection(to: address)
        case .unreachable: throw .noAnswer(at: address)
        }
    }

    deinit { endpoint.stop() }

    /// Asks, and waits for the whole answer.
    /// - Throws: what the coordinator refused with; exit code 69 when no answer comes.
    package func ask(_ make: (Int) -> ClientRequest) throws(Failure) -> [ClientReply] {
        try letters(make).map(\.reply)
    }

    /// Asks for bytes.
    /// - Returns: the answer and its payload.
    func fetch(_ make: (Int) -> ClientRequest) throws(Failure) -> (reply: ClientReply, payload: [MessageFrame]) {
        guard let letter = try letters(make).last else { throw .noAnswer(at: address) }
        return (letter.reply, letter.payload)
    }

    private func letters(_ make: (Int) -> ClientRequest) throws(Failure) -> [Letter] {
        let number = mailbox.nextRequest()
        try send(make(number))
        var letters: [Letter] = []
        while true {
            guard let letter = try mailbox.take(number, seconds: Self.answerSeconds) else {
                throw .noAnswer(at: address)
            }
            if case .failure(let refused) = letter.reply { throw refused.failure }
            letters.append(letter)
            if !letter.reply.hasMore { return letters }
        }
    }

    /// Asks for something that goes on, and hands over what comes until `body` returns `false`.
    package func follow(_ make: (Int) -> ClientRequest, _ body: (ClientReply) -> Bool) throws(Failure) {
        let number = mailbox.nextRequest()
        try send(make(number))
        while true {
            guard let reply = try mailbox.take(number, seconds: 1)?.reply else {
                if mailbox.isBroken { throw .noAnswer(at: address) }
                continue
            }
            if case .failure(let refused) = reply { throw refused.failure }
            if !body(reply) { return }
        }
    }

    private func send(_ request: ClientRequest) throws(Failure) {
        do {
            try endpoint.send([MessageFrame(try MessageCodec.encode(request))])
        } catch {
            throw Failure(
                .transport, "The request cannot be sent: \(error)", advice: "Check what was asked for.",
                fault: .settings, exitCode: .usage)
        }
    }
}

extension ClientReply {
    /// Another reply to the same request follows.
    fileprivate var hasMore: Bool {
        switch self {
        case .jobs(let rows): rows.more
        case .segments(let rows): rows.more
        case .workers(let rows): rows.more
        case .events(let rows): rows.more
        case .submitted, .done, .samples, .failure: false
        }
    }
}

/// A reply with the frames behind its header.
private struct Letter: Sendable {
    var reply: ClientReply
    var payload: [MessageFrame]
}

/// Replies on their way from the endpoint's thread to the one that waits.
private final class Mailbox: @unchecked Sendable {
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var letters: [Letter] = []
    private var refusal: Failure?
    private var outcome: ConnectionProbe.Outcome?
    private var hasBroken = false
    private var isDisconnected = false
    private var lastRequest = 0

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        let result = body()
        condition.broadcast()
        return result
    }

    func put(_ letter: Letter) { locked { letters.append(letter) } }
    func refuse(_ failure: Failure) { locked { refusal = failure } }
    func nextRequest() -> Int {
        locked {
            lastRequest += 1
            return lastRequest
        }
    }

    func note(_ fresh: ConnectionProbe.Outcome) {
        locked {
            outcome = fresh
            isDisconnected = false
        }
    }

    /// Counts only if no later try does better.
    func noteBreak() { locked { hasBroken = true } }

    func disconnect() { locked { isDisconnected = true } }
    var isBroken: Bool { locked { isDisconnected } }

    func waitForConnection(seconds: Double) -> ConnectionProbe.Outcome {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while outcome == nil, condition.wait(until: deadline) {}
        return outcome ?? (hasBroken ? .broken : .unreachable)
    }

    /// - Returns: `nil` when nothing came in time.
    func take(_ request: Int, seconds: Double) throws(Failure) -> Letter? {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let refusal { throw refusal }
            // Answers to what was given up meanwhile are for nobody.
            letters.removeAll { $0.reply.request < request }
            if let place = letters.firstIndex(where: { $0.reply.request == request }) {
                return letters.remove(at: place)
            }
            guard condition.wait(until: deadline) else { return nil }
        }
    }
}

private final class ClientHandler: EndpointHandler {
    private let mailbox: Mailbox

    init(_ mailbox: Mailbox) { self.mailbox = mailbox }

    func received(_ message: ReceivedMessage) {
        guard let header = message.frames.first else { return }
        let payload = message.frames.dropFirst().map(\.count)
        let reply: ClientReply? = header.withUnsafeBytes { try? MessageCodec.decode(header: $0, payload: payload) }
        if let reply { return mailbox.put(Letter(reply: reply, payload: Array(message.frames.dropFirst()))) }
        let other: CoordinatorMessage? = header.withUnsafeBytes {
            try? MessageCodec.decode(header: $0, payload: payload)
        }
        if case .refused(let refused) = other { mailbox.refuse(refused.failure) }
    }

    func connection(_ event: ConnectionEvent) {
        switch event.kind {
        case .connected: mailbox.note(.connected)
        case .unauthorized: mailbox.note(.unauthorized)
        case .handshakeFailed: mailbox.note(.mismatched)
        case .handshakeBroken: mailbox.noteBreak()
        case .disconnected: mailbox.disconnect()
        }
    }
}
