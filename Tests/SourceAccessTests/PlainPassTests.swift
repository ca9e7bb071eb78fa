import Foundation
import Media
import MediaTime
import SegmentPlan
import Support
import Testing

@testable import SourceAccess

/// What damage excuses: pictures that no decoder gives, and not one that was lost elsewhere.
@Suite("The judge of lost pictures")
struct PlainPassTests {
    /// Two seconds in one group of pictures, of which one sample is something else.
    private static func damaged(_ number: Int, _ bytes: [UInt8] = [], copyOf other: Int? = nil) throws -> [Sample]? {
        let folder = try ScratchFolder()
        let clip = folder.file("clip.mp4")
        guard
            try FFmpegProgram.run(
                ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:d=2", "-pix_fmt", "yuv420p", "-c:v", "libx264"]
                    + ["-preset", "ultrafast", "-g", "50", "-bf", "0", clip])
        else { return nil }
        var samples = try Self.samples(clip)
        let copy = other.map { samples[$0].withUnsafeBytes { Array($0) } }
        samples[number] = try samples[number].withBytes(copy ?? bytes)
        return samples
    }

    private static func samples(_ path: String) throws -> [Sample] {
        let demuxer = try Demuxer(location: path)
        var samples: [Sample] = []
        while let sample = try demuxer.readSample() { samples.append(sample) }
        return samples
    }

    private static func plainPass(_ samples: [Sample]) throws -> PlainPass {
        var pass = try PlainPass(format: samples[0].format, timeBase: samples[0].timeBase)
        for sample in samples { pass.add(sample) }
        pass.finish()
        return pass
    }

    /// What a slot would note that loses the pictures of these times.
    private static func ledger(_ samples: [Sample], losing lost: Set<Int64>) throws -> PictureLedger {
        let start = Keyframe(pts: 0, dts: 0, kind: .clean)
        var ledger = PictureLedger(
            Segment(index: 0, start: 0, end: .max, entry: start, keyframe: start, next: nil), format: samples[0].format)
        let decoder = try DecompressionSession(format: samples[0].format, timeBase: samples[0].timeBase)
        func take(_ frame: Frame) {
            if let time = frame.pts, lost.contains(time) { return }
            _ = ledger.received(frame)
        }
        for sample in samples {
            ledger.sent(sample)
            do { try decoder.decode(sample, output: take) } catch { ledger.failed(sample, error) }
        }
        try decoder.finish(output: take)
        return ledger
    }

    @Test("Behind a bad sample nothing is excused but what a plain pass of the decoder lacks, too")
    func confirmed() throws {
        guard let samples = try Self.damaged(20, Array(repeating: 0xFF, count: 80)) else { return }
        let pass = try Self.plainPass(samples)
        let times = samples.compactMap(\.pts)
        let bad = times.filter { pass.lacking(at: $0) > 0 }
        #expect(bad == [times[20]] && pass.isEntryRight && pass.tellsTimes)
        let lost = Set(times[22...23])
        let ledger = try Self.ledger(samples, losing: lost)
        // The bad sample would excuse everything up to the next keyframe, of which there is none.
        #expect(Set(ledger.losses().map(\.time)) == lost.union(bad))
        #expect(ledger.losses(confirmedBy: pass).map(\.time) == bad)
    }

    @Test("What a plain pass lacks is told also where no decoder has words for it")
    func silent() throws {
        // The second of two copies of one sample seems to be more of the same picture.
        guard let samples = try Self.damaged(30, copyOf: 20) else { return }
        let gone = samples[30]
        let pass = try Self.plainPass(samples)
        #expect(pass.lacking(at: gone.pts ?? 0) == 1)
        let ledger = try Self.ledger(samples, losing: [])
        #expect(ledger.losses().isEmpty)
        #expect(ledger.losses(confirmedBy: pass).map(\.time) == [gone.pts])
    }

    @Test("Zeroed bytes inside a picture show where the decoder says nothing", arguments: ["libx264", "libx265"])
    func zeros(encoder: String) throws {
        let folder = try ScratchFolder()
        let clip = folder.file("clip.mp4")
        let quiet = encoder == "libx265" ? ["-x265-params", "log-level=none"] : []
        guard
            try FFmpegProgram.run(
                ["-f", "lavfi", "-i", "testsrc2=size=192x128:rate=25:d=1", "-pix_fmt", "yuv420p", "-c:v", encoder]
                    + ["-preset", "ultrafast"] + quiet + [clip])
        else { return }
        for sample in try Self.samples(clip) {
            #expect(BrokenUnits.find(in: sample) == nil)
            guard sample.isSync else { continue }
            var bytes = sample.withUnsafeBytes { Array($0) }
            let middle = bytes.count - 400
            for index in middle..<(middle + 64) { bytes[index] = 0 }
            #expect(BrokenUnits.find(in: try sample.withBytes(bytes)) != nil)
            #expect(BrokenUnits.find(in: try sample.withBytes(Array(bytes.prefix(middle)))) != nil)
        }
    }

    @Test("However long a track that is damaged throughout is, a segment is decoded from a bounded way back")
    func bounded() {
        func keyframe(_ index: Int) -> Keyframe {
            Keyframe(pts: Int64(index) * 250, dts: Int64(index) * 250, position: -1, ordinal: index * 250, kind: .clean)
        }
        for count in [100, 1_000, 10_000] {
            var decoded = 0
            for index in 0..<count {
                var segment = Segment(
                    index: index, start: Int64(index) * 250, end: Int64(index + 1) * 250, entry: keyframe(index),
                    keyframe: keyframe(index), next: keyframe(index + 1))
                segment.earlier = index > 0 ? keyframe(index - 1) : nil
                // All entries prove bad: each is tried.
                decoded += segment.earlierEntries.reduce(250) { $0 + (index + 1) * 250 - $1.ordinal }
            }
            #expect(decoded <= count * 250 * 4 + 17 * 17 * 250, "\(count) segments")
        }
        // Near the beginning it goes back all the way.
        var third = Segment(
            index: 2, start: 500, end: 750, entry: keyframe(2), keyframe: keyframe(2), next: nil)
        third.earlier = keyframe(1)
        #expect(third.earlierEntries.map(\.ordinal) == [250, 0])
    }

    @Test("No intact real file breaks the rule")
    func intact() throws {
        guard let folder = RealMedia.folder else { return print("skipped: no folder of real media (set WEFT_MEDIA)") }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            // One is encrypted: its bytes are anything.
            guard let demuxer = try? Demuxer(location: folder + "/" + name), !name.hasSuffix("--video.mp4") else {
                continue
            }
            var broken = 0
            while let sample = try demuxer.readToEnd() { broken += BrokenUnits.find(in: sample) == nil ? 0 : 1 }
            #expect(broken == 0, "\(name)")
        }
    }
}
