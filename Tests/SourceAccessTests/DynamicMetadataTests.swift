import Media
import Support
import Testing

@testable import SourceAccess

@Suite("Dynamic metadata of single pictures")
struct DynamicMetadataTests {
    private func samples() throws -> [Sample]? {
        let folder = try ScratchFolder()
        let path = folder.file("clip.ts")
        let clip = ["-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25", "-t", "0.5", "-pix_fmt", "yuv420p"]
        let encoder = ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error"]
        guard try FFmpegProgram.run(clip + encoder + [path]) else { return nil }
        let demuxer = try Demuxer(location: path)
        var samples: [Sample] = []
        while let sample = try demuxer.readSample() { samples.append(sample) }
        return samples
    }

    @Test("What is put beside a picture is found there again, whatever its bytes")
    func roundTrip() throws {
        guard let samples = try samples() else { return }
        var random = SeededRandom(seed: 11)
        for number in 0..<200 {
            let sample = samples[number % samples.count]
            // Mostly zeros: the bytes that need emulation prevention.
            var payload = random.bytes(Int.random(in: 1...600, using: &random)).map { $0 < 200 ? 0 : $0 & 3 }
            payload.append(0x80)
            let metadata = DynamicMetadata(
                hdr10Plus: [0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04] + payload,
                dolbyVision: [62 << 1, 1] + payload.map { $0 | 0x10 })
            let completed = try metadata.added(to: sample)
            #expect(completed.pts == sample.pts && completed.isSync == sample.isSync)
            #expect(DynamicMetadata(of: completed, hdr10Plus: true, dolbyVision: true) == metadata)
        }
    }

    @Test("A picture without any has none")
    func none() throws {
        guard let samples = try samples() else { return }
        for sample in samples { #expect(DynamicMetadata(of: sample, hdr10Plus: true, dolbyVision: true) == nil) }
    }

    @Test("Bytes that are no stream at all are refused, not guessed at")
    func garbage() throws {
        guard let first = try samples()?.first else { return }
        var random = SeededRandom(seed: 5)
        for count in 0..<64 {
            let bytes = random.bytes(count)
            let sample = try bytes.withUnsafeBytes { raw in
                try Sample(
                    bytes: raw, format: first.format, timeBase: first.timeBase, pts: 0, dts: 0, duration: 1,
                    isSync: true,
                    isDiscarded: false, attachments: [])
            }
            _ = DynamicMetadata(of: sample, hdr10Plus: true, dolbyVision: true)
            let metadata = DynamicMetadata(hdr10Plus: nil, dolbyVision: [62 << 1, 1, 9])
            #expect(throws: MediaError.self) { try metadata.added(to: sample) }
        }
    }
}
