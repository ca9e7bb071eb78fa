import ClusterProtocol
import Foundation
import Media
import MediaTime
import Support
import Testing

@testable import SourceAccess
@testable import Stitching

@Suite("Spool")
struct SpoolTests {
    /// What one slot would return.
    private struct Segment {
        var table: SampleTable
        var payload: [UInt8]
        var archive: [UInt8]

        init(seed: UInt64) throws {
            var random = SeededRandom(seed: seed)
            var entries: [SampleTable.Entry] = []
            for number in 0..<Int.random(in: 1...200, using: &random) {
                entries.append(
                    .init(
                        pts: Int64(number) * 1001, dts: SampleTable.noTime, duration: 1001,
                        size: .random(in: 0...5_000, using: &random), flags: number == 0 ? .sync : []))
            }
            table = SampleTable(entries: entries)
            payload = random.bytes(Int(table.payloadBytes))
            archive = try Self.format.get().archive()
        }

        static let format = Result {
            let picture = FrameFormat(
                width: 64, height: 48, pixelFormat: "yuv420p", timeBase: .milliseconds, frameRate: Rational(25, 1))
            return try CompressionSession(settings: CompressionSettings(encoder: "libx264", video: picture)).format
        }

        var hash: String {
            var hash = ContentHash()
            hash.update(payload)
            return hash.finish()
        }

        /// Writes it in pieces, as they arrive.
        func write(to spool: Spool, segment: Int, lease: UInt64 = 1, hash: String? = nil) throws -> String {
            let writer = try spool.makeWriter(segment: segment, lease: lease)
            for start in stride(from: 0, to: payload.count, by: 7_000) {
                try payload[start..<min(payload.count, start + 7_000)].withUnsafeBytes { try writer.append($0) }
            }
            #expect(writer.size == Int64(payload.count))
            return try writer.finish(table: table.encoded(), archive: archive, expectedHash: hash ?? self.hash)
        }
    }

    @Test("A segment comes back as it was written", arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        let folder = try ScratchFolder()
        let spool = try Spool(directory: folder.file("spool"))
        let segment = try Segment(seed: seed)
        let hash = try segment.write(to: spool, segment: 3)
        #expect(SpooledSegment.isIntact(path: spool.path(ofSegment: 3), hash: hash))
        let read = try spool.openSegment(3)
        #expect(read.index == 3 && read.count == segment.table.entries.count)
        #expect(try read.format == Segment.format.get())
        #expect(read.presentationTimes == segment.table.entries.map(\.pts))
        // Not in order: a reader may go back.
        var offset = 0
        for (number, entry) in segment.table.entries.enumerated() {
            let sample = try read.sample(
                number, pts: entry.pts, dts: entry.pts - 1, duration: 1001, timeBase: .mpeg)
            #expect(sample.withUnsafeBytes { Array($0) } == Array(segment.payload[offset..<offset + Int(entry.size)]))
            #expect(sample.isSync == (number == 0) && sample.pts == entry.pts && sample.dts == entry.pts - 1)
            offset += Int(entry.size)
        }
        let again = try read.sample(0, pts: 0, dts: 0, duration: 1, timeBase: .mpeg)
        #expect(again.size == Int(segment.table.entries[0].size))
    }

    @Test(
        "Times that the segment does not own, and a start that is no key picture, are refused while it can be made again"
    )
    func strangers() throws {
        let folder = try ScratchFolder()
        let spool = try Spool(directory: folder.file("spool"))
        let segment = try Segment(seed: 3)
        let whole = 0..<Int64(segment.table.entries.count) * 1001
        func finish(_ table: SampleTable, _ times: Range<Int64>) throws {
            let writer = try spool.makeWriter(segment: 1, lease: 1)
            try segment.payload.withUnsafeBytes { try writer.append($0) }
            _ = try writer.finish(
                table: table.encoded(), archive: segment.archive, expectedHash: segment.hash, times: times)
        }
        try finish(segment.table, whole)
        #expect(throws: Failure.self) { try finish(segment.table, 1..<whole.upperBound) }
        var late = segment.table
        late.entries[late.entries.count - 1].pts = whole.upperBound + 1001
        #expect(throws: Failure.self) { try finish(late, whole) }
        var twice = segment.table
        twice.entries[1].pts = 0
        #expect(throws: Failure.self) { try finish(twice, whole) }
        var closed = segment.table
        closed.entries[0].flags = []
        #expect(throws: Failure.self) { try finish(closed, whole) }
    }

    @Test("Only whole segments have their name, and the folder is nobody else's")
    func names() throws {
        let folder = try ScratchFolder()
        let spool = try Spool(directory: folder.file("spool"))
        let mode = try FileManager.default.attributesOfItem(atPath: spool.directory)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        let writer = try spool.makeWriter(segment: 0, lease: 7)
        let other = try spool.makeWriter(segment: 0, lease: 8)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: spool.directory).sorted() == [
                "segment-0.7.part", "segment-0.8.part",
            ])
        #expect(throws: Failure.self) { try spool.openSegment(0) }
        writer.cancel()
        other.cancel()
        #expect(try FileManager.default.contentsOfDirectory(atPath: spool.directory).isEmpty)
        spool.remove()
        #expect(!FileManager.default.fileExists(atPath: spool.directory))
    }

    @Test("Bytes that are not those the slot hashed are refused as the worker's fault and leave no file")
    func alteredOnTheWay() throws {
        let folder = try ScratchFolder()
        let spool = try Spool(directory: folder.file("spool"))
        let segment = try Segment(seed: 1)
        let wrong = String(segment.hash.reversed())
        let failure = #expect(throws: Failure.self) { try segment.write(to: spool, segment: 0, hash: wrong) }
        #expect(failure?.boundary == .transport && failure?.retry == .elsewhere && failure?.fault == .worker)
        #expect(try FileManager.default.contentsOfDirectory(atPath: spool.directory).isEmpty)
    }

    @Test(
        "A table or a format that cannot be read is refused as the worker's fault and leaves no file", arguments: 0..<5)
    func badDescription(kind: Int) throws {
        let folder = try ScratchFolder()
        let spool = try Spool(directory: folder.file("spool"))
        let segment = try Segment(seed: 1)
        var (table, archive, samples) = (try segment.table.encoded(), segment.archive, segment.table.entries.count)
        switch kind {
        case 0: table.removeLast()
        case 1: table[16 + 24] ^= 1  // the size of the first sample
        case 2: table.replaceSubrange(16..<24, with: [0, 0, 0, 0, 0, 0, 0, 0x80])  // its time: none
        case 3: archive.removeLast()
        default: samples += 1
        }
        let failure = #expect(throws: Failure.self) {
            let writer = try spool.makeWriter(segment: 0, lease: 1)
            try segment.payload.withUnsafeBytes { try writer.append($0) }
            _ = try writer.finish(table: table, archive: archive, expectedHash: segment.hash, samples: samples)
        }
        #expect(failure?.retry == .elsewhere && failure?.fault == .worker)
        #expect(try FileManager.default.contentsOfDirectory(atPath: spool.directory).isEmpty)
    }

    @Test("A file cut off anywhere is not intact and does not open", arguments: 0..<40 as Range<UInt64>)
    func short(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let folder = try ScratchFolder()
        let spool = try Spool(directory: folder.path)
        let hash = try Segment(seed: seed).write(to: spool, segment: 0)
        let bytes = try readBytes(spool.path(ofSegment: 0))
        let path = try folder.write(
            Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))), to: "segment-0.spool")
        #expect(!SpooledSegment.isIntact(path: path, hash: hash), "seed \(seed)")
        let failure = #expect(throws: Failure.self) { try spool.openSegment(0) }
        #expect(failure?.boundary == .storage && failure?.retry == .retry, "seed \(seed)")
    }

    @Test("One altered byte is found, and never crashes the reader", arguments: 0..<60 as Range<UInt64>)
    func altered(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let folder = try ScratchFolder()
        let spool = try Spool(directory: folder.path)
        let hash = try Segment(seed: seed).write(to: spool, segment: 0)
        var bytes = try readBytes(spool.path(ofSegment: 0))
        let place = Int.random(in: 0..<bytes.count - SpoolTrailer.size, using: &random)
        bytes[place] ^= UInt8.random(in: 1...255, using: &random)
        let path = try folder.write(bytes, to: "segment-0.spool")
        #expect(!SpooledSegment.isIntact(path: path, hash: hash), "seed \(seed)")
        let failure = #expect(throws: Failure.self) { try spool.openSegment(0, expectedHash: hash) }
        #expect(failure?.boundary == .storage, "seed \(seed)")
        guard let read = try? spool.openSegment(0) else { return }
        for number in 0..<read.count {
            _ = try? read.sample(number, pts: 0, dts: 0, duration: 1, timeBase: .mpeg)
        }
    }

    @Test("An altered trailer does not open", arguments: 0..<SpoolTrailer.size)
    func alteredTrailer(byte: Int) throws {
        let folder = try ScratchFolder()
        let spool = try Spool(directory: folder.path)
        _ = try Segment(seed: 5).write(to: spool, segment: 0)
        var bytes = try readBytes(spool.path(ofSegment: 0))
        bytes[bytes.count - 1 - byte] ^= 0x41
        _ = try folder.write(bytes, to: "segment-0.spool")
        #expect(throws: Failure.self) { try spool.openSegment(0) }
    }

    @Test("A trailer reads back as written and only for a file of its size", arguments: 0..<50 as Range<UInt64>)
    func trailer(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let trailer = SpoolTrailer(
            payload: .random(in: 0...(1 << 40), using: &random), table: .random(in: 0...(1 << 30), using: &random),
            archive: .random(in: 0...(1 << 20), using: &random))
        let size = trailer.payload + trailer.table + trailer.archive + UInt64(SpoolTrailer.size)
        let read = try #require(SpoolTrailer(bytes: trailer.bytes, fileSize: size))
        #expect(read.payload == trailer.payload && read.table == trailer.table && read.archive == trailer.archive)
        #expect(SpoolTrailer(bytes: trailer.bytes, fileSize: size + 1) == nil)
        #expect(SpoolTrailer(bytes: Array(trailer.bytes.dropLast()), fileSize: size) == nil)
    }

    @Test("Parts whose sum overflows are no trailer")
    func overflowingTrailer() {
        let trailer = SpoolTrailer(payload: .max, table: .max, archive: 34)
        let wrapped = UInt64.max &+ UInt64.max &+ 34 &+ UInt64(SpoolTrailer.size)
        #expect(SpoolTrailer(bytes: trailer.bytes, fileSize: wrapped) == nil)
    }
}
