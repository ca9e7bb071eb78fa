import Foundation
import Support
import Testing

@testable import ClusterProtocol

/// Real messages, damaged by a seeded mutator: whatever comes out is refused with a typed error, or is within every limit.
@Suite struct MutationTests {
    private static let rounds = Int(ProcessInfo.processInfo.environment["WEFT_FUZZ_ROUNDS"] ?? "") ?? 20_000

    @Test("A damaged header is refused or stays within the limits", arguments: [1, 2, 3] as [UInt64])
    func headers(seed: UInt64) throws {
        var mutator = Mutator(seed: seed)
        let corpus = try Examples.headers()
        var accepted = 0
        for _ in 0..<Self.rounds / 3 {
            let (original, originalPayload) = try #require(corpus.randomElement(using: &mutator.generator))
            let header = mutator.mutated(original, other: corpus.randomElement(using: &mutator.generator)?.header ?? [])
            let payload = mutator.mutated(sizes: originalPayload)
            accepted += try Self.tryAll(header, payload)
        }
        // A mutator whose every product is refused at once tests nothing.
        #expect(accepted > Self.rounds / 100)
    }

    /// - Returns: 1 when some direction accepted the message.
    private static func tryAll(_ header: [UInt8], _ payload: [Int]) throws -> Int {
        var accepted = 0
        func attempt<Message: WireMessage>(_ type: Message.Type) throws {
            let message: Message
            do throws(ProtocolError) { message = try decode(header, payload) } catch { return }
            accepted = 1
            #expect(header.count <= ProtocolLimits.headerBytes)
            #expect(payload.allSatisfy { $0 <= ProtocolLimits.chunkBytes })
            // What was accepted can be sent on, and is then accepted again as the same.
            let again: Message = try decode(try MessageCodec.encode(message, payload: payload), payload)
            #expect(again == message)
        }
        try attempt(InboundMessage.self)
        try attempt(CoordinatorMessage.self)
        try attempt(ClientReply.self)
        return accepted
    }

    @Test("A damaged sample table is refused or is itself a table", arguments: [4, 5, 6] as [UInt64])
    func tables(seed: UInt64) throws {
        var mutator = Mutator(seed: seed)
        var accepted = 0
        for _ in 0..<Self.rounds / 3 {
            let samples = Int.random(in: 1...20, using: &mutator.generator)
            let table = SampleTableTests.table(samples: samples, attachments: samples / 4, using: &mutator.generator)
            let bytes = mutator.mutated(try table.encoded(), other: [])
            let back: SampleTable
            do throws(ProtocolError) { back = try parse(bytes) } catch { continue }
            accepted += 1
            #expect(back.entries.count * 32 <= bytes.count)
            #expect(try back.encoded() == bytes)
        }
        #expect(accepted > Self.rounds / 100)
    }
}

private struct Mutator {
    var generator: SeededRandom
    init(seed: UInt64) { generator = SeededRandom(seed: seed) }

    private static let tokens = [
        "-1", "0", "1e400", "1e-400", "9223372036854775807", "9223372036854775808", "18446744073709551615", "null",
        "true", "[]", "{}", "\"\"", "\"\\u0000\"", "\"\\ud800\"", "[[[[[[[[", "4294967296", "1.5", "1048577", "65537",
    ]

    mutating func mutated(_ bytes: [UInt8], other: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty { mutate(&bytes, other: other) }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8], other: [UInt8]) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 4: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...16, using: &generator)))
        case 5: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 24)], at: place)
        case 6: replaceNumber(&bytes, from: place)
        default: bytes = Array(bytes[..<place]) + other.suffix(from: min(place, other.count))
        }
    }

    /// Puts a nasty token where a JSON value is.
    private mutating func replaceNumber(_ bytes: inout [UInt8], from place: Int) {
        guard let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")) else { return }
        let end = bytes[(colon + 1)...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") } ?? bytes.count
        let token = Self.tokens.randomElement(using: &generator) ?? "0"
        bytes.replaceSubrange((colon + 1)..<end, with: Array(token.utf8))
    }

    mutating func mutated(sizes: [Int]) -> [Int] {
        guard Int.random(in: 0..<4, using: &generator) == 0 else { return sizes }
        var sizes = sizes
        let nasty = [0, 1, ProtocolLimits.chunkBytes, ProtocolLimits.chunkBytes + 1, Int.max / 1024]
        sizes.append(nasty.randomElement(using: &generator) ?? 0)
        return sizes
    }
}
