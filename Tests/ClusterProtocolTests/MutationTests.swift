import Foundation
import Support
import Testing

@testable import ClusterProtocol

/// One message of each type, damaged by a seeded mutator: whatever comes out is refused with a typed error, or is within every limit.
@Suite struct MutationTests {
    private static let rounds = Int(ProcessInfo.processInfo.environment["WEFT_FUZZ"] ?? "") ?? 20_000

    @Test("A damaged header is refused or stays within the limits", arguments: [1, 2, 3] as [UInt64])
    func headers(seed: UInt64) throws {
        var mutator = MessageMutator(seed: seed)
        let corpus = try Examples.headers()
        var accepted = 0
        for _ in 0..<Self.rounds / 3 {
            let (original, originalPayload) = try #require(corpus.randomElement(using: &mutator.generator))
            let header = mutator.mutated(original, other: corpus.randomElement(using: &mutator.generator)?.header ?? [])
            let payload = mutator.mutated(sizes: originalPayload, limit: ProtocolLimits.chunkBytes)
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
        var mutator = MessageMutator(seed: seed)
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
