import Foundation
import Media
import MediaTime
import Support
import Testing

@Suite struct FormatArchiveTests {
    private static func formats() throws -> [FormatDescription] {
        try ContainerFixtures.manifest.flatMap { row -> [FormatDescription] in
            guard let path = ContainerFixtures.path(row.file) else { return [] }
            return try Demuxer(location: path).tracks.map(\.format)
        }
    }

    @Test("the format of every track of every real file survives its archive")
    func roundTrip() throws {
        for format in try Self.formats() {
            let bytes = format.archive()
            let copy = try FormatDescription(archive: bytes)
            #expect(copy == format)
            #expect(copy.attachments == format.attachments)
            #expect(copy.archive() == bytes)
        }
    }

    @Test("every cut of an archive, and a byte too many, is refused")
    func cuts() throws {
        guard let path = ContainerFixtures.path("dovi_tool--regular.mkv") else { return }
        let bytes = try Demuxer(location: path).tracks[0].format.archive()
        for length in 0..<bytes.count {
            #expect(throws: MediaError.self) { try FormatDescription(archive: Array(bytes.prefix(length))) }
        }
        #expect(throws: MediaError.self) { try FormatDescription(archive: bytes + [0]) }
    }

    @Test("rubbish is refused or read, never a crash", arguments: [1, 2, 3, 4] as [UInt64])
    func fuzz(seed: UInt64) throws {
        guard let path = ContainerFixtures.path("torchcodec--nasa_13013.mp4") else { return }
        let archives = try Demuxer(location: path).tracks.map { $0.format.archive() }
        var random = SeededRandom(seed: seed)
        for round in 0..<3000 {
            var bytes = archives[round % archives.count]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if let format = try? FormatDescription(archive: bytes) {
                // What was accepted can be archived again.
                #expect(try FormatDescription(archive: format.archive()) == format)
            }
            let noise = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            #expect(throws: MediaError.self) { try FormatDescription(archive: noise) }
        }
    }

    @Test("a sample keeps its flags and attachments through bytes")
    func sampleRoundTrip() throws {
        guard let path = ContainerFixtures.path("media--iibbibb_editlist_videoonly.mp4") else { return }
        let demuxer = try Demuxer(location: path)
        var discarded = 0
        while let sample = try demuxer.readSample() {
            let copy = try sample.withUnsafeBytes { bytes in
                try Sample(
                    bytes: bytes, format: sample.format, timeBase: sample.timeBase, pts: sample.pts, dts: sample.dts,
                    duration: sample.duration, isSync: sample.isSync, isDiscarded: sample.isDiscarded,
                    attachments: sample.attachments, track: sample.track)
            }
            #expect(copy.isDiscarded == sample.isDiscarded)
            #expect(copy.attachments == sample.attachments)
            #expect(ContainerFixtures.bytes(of: copy) == ContainerFixtures.bytes(of: sample))
            if sample.isDiscarded { discarded += 1 }
        }
        #expect(discarded > 0)
    }

    @Test("adding attachments leaves the sample as it was")
    func adding() throws {
        guard let path = ContainerFixtures.path("shaka-player--v.mp4") else { return }
        let sample = try #require(try Demuxer(location: path).readSample())
        let retimed = sample.retimed(pts: 7, dts: nil, duration: 3, timeBase: .mpeg)
        let note = Attachment(kind: .webVTTIdentifier, bytes: [1, 2, 3])
        let more = try retimed.adding([note])
        #expect(more.attachments == sample.attachments + [note])
        #expect(retimed.attachments == sample.attachments)
        #expect(more.pts == 7 && more.dts == nil && more.duration == 3 && more.timeBase == .mpeg)
        #expect(
            ContainerFixtures.reason { _ = try sample.adding([Attachment(kind: .init(rawValue: "x"), bytes: [])]) }
                == .unsupported)
    }
}
