import AllocationCount
import ClusterProtocol
import Media
import Support

/// One damaged message a round, through every parser that bytes of a peer reach. Each round draws from a generator of its own, so that it
/// can be done again by itself.
struct ParserRounds {
    private let corpus: [CapturedMessage]
    private let seed: UInt64
    private(set) var tally = Tally()

    /// What went through, and what it took.
    struct Tally: CustomStringConvertible {
        var parses = 0
        var accepted = 0
        /// The most bytes that a parse allocated at a time, and for how many.
        var most = (bytes: 0, input: 0)
        var largest = 0

        var description: String {
            "\(parses) parses of damaged messages, \(accepted) accepted; at most \(most.bytes) bytes allocated (for \(most.input)), "
                + "largest request \(largest)"
        }
    }

    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    /// What docs/PROTOCOL.md states: reading a header takes at most this much memory, the message that comes out of it included…
    private static func headerLimit(_ bytes: Int) -> Int { 64 << 10 + 64 * bytes }
    /// … and a table or a format description this much.
    private static func payloadLimit(_ bytes: Int) -> Int { 64 << 10 + 8 * bytes }
    /// One header in this many is blown up to about the size that it may have.
    private static let inflations = 2000

    init(corpus: [CapturedMessage], seed: UInt64) {
        self.corpus = corpus
        self.seed = seed
        // What is set up once and stays is nobody's message.
        _ = try? FormatDescription(archive: [])
    }

    mutating func run(round: UInt64) throws {
        var mutator = MessageMutator(seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ round)
        guard let message = corpus.randomElement(using: &mutator.generator),
            let other = corpus.randomElement(using: &mutator.generator)
        else { return }
        let sizes = mutator.mutated(sizes: message.payload.map(\.count), limit: ProtocolLimits.chunkBytes)
        var header = message.header
        if Int.random(in: 0..<Self.inflations, using: &mutator.generator) == 0 {
            let size = ProtocolLimits.headerBytes - Int.random(in: -64...64, using: &mutator.generator)
            header = mutator.inflated(header, to: size)
        } else if Int.random(in: 0..<10, using: &mutator.generator) > 0 {
            header = mutator.mutated(header, other: other.header)
        }
        try read(header, sizes)
        for case .parsed(let bytes) in message.payload.prefix(4) {
            let damaged = mutator.mutated(bytes, other: other.payload.first.map(Self.bytes) ?? [])
            try readTable(damaged)
            try readFormat(damaged)
        }
    }

    private static func bytes(_ frame: CapturedMessage.Frame) -> [UInt8] {
        if case .parsed(let bytes) = frame { bytes } else { [] }
    }

    // MARK: Parsers

    private mutating func read(_ header: [UInt8], _ sizes: [Int]) throws {
        if let message = try decode(InboundMessage.self, header, sizes) { try follow(message, sizes) }
        if let message = try decode(CoordinatorMessage.self, header, sizes) { try follow(message) }
        _ = try decode(ClientReply.self, header, sizes)
    }

    private mutating func decode<Message: WireMessage>(
        _ type: Message.Type, _ header: [UInt8], _ sizes: [Int]
    ) throws -> Message? {
        let message: Message? = try watched(header.count, limit: Self.headerLimit(header.count)) {
            try? header.withUnsafeBytes { try MessageCodec.decode(type, header: $0, payload: sizes) }
        }
        guard let message else { return nil }
        guard header.count <= ProtocolLimits.headerBytes, sizes.allSatisfy({ $0 <= ProtocolLimits.chunkBytes }) else {
            throw Violation(description: "a message above the limits was accepted")
        }
        // What was accepted can be sent on, and is then accepted again as the same.
        let again = try MessageCodec.encode(message, payload: sizes)
        let back = try again.withUnsafeBytes { try MessageCodec.decode(type, header: $0, payload: sizes) }
        guard back == message else { throw Violation(description: "\(message) came back as \(back)") }
        return message
    }

    private mutating func readTable(_ bytes: [UInt8]) throws {
        let table: SampleTable? = try watched(bytes.count, limit: Self.payloadLimit(bytes.count)) {
            try? bytes.withUnsafeBytes { try SampleTable(bytes: $0) }
        }
        guard let table else { return }
        _ = table.damage
        guard try table.encoded() == bytes else { throw Violation(description: "a table came back otherwise") }
    }

    private mutating func readFormat(_ bytes: [UInt8]) throws {
        let format: FormatDescription? = try watched(bytes.count, limit: Self.payloadLimit(bytes.count)) {
            try? FormatDescription(archive: bytes)
        }
        guard let format else { return }
        let archive = format.archive()
        guard try FormatDescription(archive: archive).archive() == archive else {
            throw Violation(description: "a format description came back otherwise")
        }
    }

    /// Runs a parser under the count.
    private mutating func watched<Result>(_ bytes: Int, limit: Int, _ parse: () throws -> Result?) throws -> Result? {
        var (peak, largest) = (0, 0)
        allocation_count_begin()
        defer { _ = (peak, largest) }
        let result: Result?
        do {
            result = try parse()
        } catch {
            result = nil
        }
        allocation_count_end(&peak, &largest)
        tally.parses += 1
        if result != nil { tally.accepted += 1 }
        if peak > tally.most.bytes { tally.most = (peak, bytes) }
        tally.largest = max(tally.largest, largest)
        guard peak <= limit else { throw Violation(description: "\(bytes) bytes took \(peak) to parse") }
        return result
    }

    // MARK: Beyond the parsers

    /// The numbers of a message that was accepted go into sums.
    private func follow(_ message: InboundMessage, _ sizes: [Int]) throws {
        switch message {
        case .worker(.chunk(let chunk)):
            var sequence = ChunkSequence(offset: chunk.offset)
            try? sequence.accept(chunk, bytes: sizes.first ?? 0)
            var window = CreditWindow(size: chunk.offset)
            try? window.receive(sizes.first ?? 0)
            _ = window.consume(sizes.first ?? 0)
        case .worker(.result(let result)): try? ChunkSequence(offset: result.bytes).check(result)
        case .worker(.sourceCredit(let credit)):
            var balance = CreditBalance(ProtocolLimits.segmentBytes)
            balance.grant(credit.bytes)
        default: break
        }
    }

    private func follow(_ message: CoordinatorMessage) throws {
        guard case .credit(let credit) = message else { return }
        var balance = CreditBalance(credit.bytes)
        for _ in 0..<3 { balance.grant(credit.bytes) }
        _ = balance.spend(ProtocolLimits.chunkBytes)
    }
}
