import Support
import Testing

@testable import ClusterProtocol

@Suite struct SampleTableTests {
    static func table(samples: Int, attachments: Int, using generator: inout some RandomNumberGenerator) -> SampleTable
    {
        let entries = (0..<samples).map { _ in
            SampleTable.Entry(
                pts: .random(in: .min ... .max, using: &generator), dts: .random(in: .min ... .max, using: &generator),
                duration: .random(in: 0...(.max), using: &generator), size: .random(in: 0...(.max), using: &generator),
                flags: .init(rawValue: .random(in: 0...7, using: &generator)))
        }
        let owners = (0..<attachments).map { _ in Int.random(in: 0..<samples, using: &generator) }.sorted()
        return SampleTable(
            entries: entries,
            attachments: owners.map { owner in
                let size = Int.random(in: 0...40, using: &generator)
                return .init(
                    sample: owner, kind: "kind-é-\(owner)",
                    bytes: (0..<size).map { _ in .random(in: 0...255, using: &generator) })
            })
    }

    @Test("A table comes back as it went", arguments: 0..<50 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let samples = Int.random(in: 0...200, using: &generator)
        let attachments = samples == 0 ? 0 : Int.random(in: 0...20, using: &generator)
        let table = Self.table(samples: samples, attachments: attachments, using: &generator)
        #expect(try parse(table.encoded(), payloadBytes: table.payloadBytes, samples: samples) == table)
    }

    @Test("Bytes are little endian in the documented order")
    func layout() throws {
        let entry = SampleTable.Entry(pts: 1, dts: -1, duration: 2, size: 3, flags: .sync)
        let table = SampleTable(entries: [entry], attachments: [.init(sample: 0, kind: "k", bytes: [9])])
        let head: [UInt8] = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        let sample: [UInt8] =
            [1, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + [2, 0, 0, 0, 0, 0, 0, 0]
            + [3, 0, 0, 0, 1, 0, 0, 0]
        let attachment: [UInt8] = [0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, UInt8(ascii: "k"), 9]
        #expect(try table.encoded() == head + sample + attachment)
    }

    @Test("Every cut of a table is refused")
    func truncation() throws {
        var generator = SeededRandom(seed: 7)
        let bytes = try Self.table(samples: 3, attachments: 2, using: &generator).encoded()
        for count in 0..<bytes.count {
            #expect(throws: ProtocolError.self) { try parse(Array(bytes[..<count])) }
        }
        #expect(throws: ProtocolError.self) { try parse(bytes + [0]) }
    }

    @Test("Sizes that do not add up to the bytes that came are refused")
    func wrongSum() throws {
        let table = SampleTable(entries: [.init(pts: 0, dts: 0, duration: 1, size: 10, flags: [])])
        #expect(throws: ProtocolError.self) { try parse(table.encoded(), payloadBytes: 11) }
        #expect(throws: ProtocolError.self) { try parse(table.encoded(), samples: 2) }
    }

    @Test("Counts above the limit or above the bytes are refused before anything is allocated")
    func counts() {
        for count: UInt32 in [1, 1 << 22, (1 << 22) + 1, .max] {
            var bytes: [UInt8] = [1, 0, 0, 0]
            withUnsafeBytes(of: count.littleEndian) { bytes.append(contentsOf: $0) }
            bytes += [0, 0, 0, 0, 0, 0, 0, 0]
            #expect(throws: ProtocolError.self) { try parse(bytes) }
        }
    }

    @Test("A negative duration, an attachment of no sample and attachments out of order are refused")
    func semantics() {
        let entry = SampleTable.Entry(pts: 0, dts: 0, duration: 0, size: 1, flags: [])
        let negative = SampleTable(entries: [.init(pts: 0, dts: 0, duration: -1, size: 1, flags: [])])
        let stray = SampleTable(entries: [entry], attachments: [.init(sample: 1, kind: "k", bytes: [])])
        let unordered = SampleTable(
            entries: [entry, entry],
            attachments: [.init(sample: 1, kind: "k", bytes: []), .init(sample: 0, kind: "k", bytes: [])])
        for table in [negative, stray, unordered] { #expect(throws: ProtocolError.self) { try table.encoded() } }
    }

    @Test("A large table travels in frames that a result may carry")
    func frames() throws {
        let entry = SampleTable.Entry(pts: 5, dts: 5, duration: 1, size: 2, flags: .sync)
        let table = SampleTable(entries: Array(repeating: entry, count: 100_000))
        let frames = try table.frames()
        #expect(frames.count == 4)
        #expect(try SampleTable(frames: frames, payloadBytes: 200_000, samples: 100_000) == table)
    }
}

func parse(_ bytes: [UInt8], payloadBytes: Int64? = nil, samples: Int? = nil) throws(ProtocolError) -> SampleTable {
    try bytes.span.withUnsafeBytes { (bytes) throws(ProtocolError) in
        try SampleTable(bytes: bytes, payloadBytes: payloadBytes, samples: samples)
    }
}
