import ClusterProtocol
import Messaging
import Support
import Testing

@testable import Worker

/// Streamed sources as a real coordinator sent them (`Tests/Captured`), whole and damaged.
@Suite struct SourceAssemblyTests {
    /// The beginnings of streams: their header, and the payload with zeros for the samples' bytes.
    private static func beginnings() throws -> [(header: [UInt8], payload: [[UInt8]])] {
        try CapturedMessage.all().compactMap { message in
            let payload = message.payload.map { frame -> [UInt8] in
                switch frame {
                case .parsed(let bytes): bytes
                case .samples(let count): [UInt8](repeating: 0, count: count)
                }
            }
            guard let chunk = chunk(message.header, payload), chunk.sequence == 0, chunk.track != nil else {
                return nil
            }
            return (message.header, payload)
        }
    }

    private static func chunk(_ header: [UInt8], _ payload: [[UInt8]]) -> SourceChunk? {
        let message: CoordinatorMessage? = header.withUnsafeBytes { bytes in
            try? MessageCodec.decode(header: bytes, payload: payload.map(\.count))
        }
        guard case .source(let chunk) = message else { return nil }
        return chunk
    }

    /// - Returns: the samples that came out.
    private static func assemble(_ chunk: SourceChunk, _ payload: [[UInt8]]) throws -> Int {
        var assembly = SourceAssembly()
        try assembly.add(chunk, payload.map { MessageFrame($0) })
        var samples = 0
        while try assembly.next() != nil { samples += 1 }
        return samples
    }

    @Test("The samples whose bytes are in a message come out of it, and no others")
    func whole() throws {
        let beginnings = try Self.beginnings()
        #expect(!beginnings.isEmpty)
        for (header, payload) in beginnings {
            let chunk = try #require(Self.chunk(header, payload))
            let table = try SampleTable(frames: [payload[1]])
            var room = payload[2].count
            let complete = table.entries.prefix { entry in
                room -= Int(entry.size)
                return room >= 0
            }
            #expect(try Self.assemble(chunk, payload) == complete.count)
        }
    }

    @Test("Damaged messages are refused in words, or give samples", arguments: [1, 2, 3] as [UInt64])
    func damaged(seed: UInt64) throws {
        var mutator = MessageMutator(seed: seed)
        let beginnings = try Self.beginnings()
        var (refused, accepted) = (0, 0)
        for _ in 0..<1000 {
            guard let (header, payload) = beginnings.randomElement(using: &mutator.generator) else { return }
            var (damagedHeader, damaged) = (header, payload)
            switch Int.random(in: 0..<4, using: &mutator.generator) {
            case 0: damagedHeader = mutator.mutated(header, other: header)
            case 1: damaged[0] = mutator.mutated(payload[0], other: payload[1])
            case 2: damaged[1] = mutator.mutated(payload[1], other: payload[0])
            default:
                damaged[2] = Array(payload[2].dropLast(Int.random(in: 0...payload[2].count, using: &mutator.generator)))
            }
            guard let chunk = Self.chunk(damagedHeader, damaged) else { continue }
            do {
                _ = try Self.assemble(chunk, damaged)
                accepted += 1
            } catch let failure as Failure {
                #expect(!failure.message.isEmpty)
                refused += 1
            }
        }
        #expect(refused > 50 && accepted > 50, "\(refused) refused, \(accepted) accepted")
    }
}
