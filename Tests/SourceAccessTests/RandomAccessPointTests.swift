import Media
import MediaTime
import SegmentPlan
import Support
import Testing

@testable import SourceAccess

@Suite("What a keyframe promises")
struct RandomAccessPointTests {
    /// Samples of a two-second clip in decode order; `nil` where there is no program to make it with.
    private func samples(_ encoder: [String], _ container: String) throws -> [Sample]? {
        let folder = try ScratchFolder()
        let path = folder.file("clip.\(container)")
        let input = ["-f", "lavfi", "-i", "testsrc2=size=192x128:rate=25", "-t", "2", "-pix_fmt", "yuv420p"]
        guard try FFmpegProgram.run(input + encoder + [path]) else { return nil }
        let demuxer = try Demuxer(location: path)
        var samples: [Sample] = []
        while let sample = try demuxer.readSample() { samples.append(sample) }
        return samples
    }

    private func kinds(_ encoder: [String], _ container: String) throws -> [Keyframe.Kind]? {
        try samples(encoder, container)?.filter(\.isSync).map { RandomAccessPoint.kind(of: $0) }
    }

    private static func x264(_ parameters: String) -> [String] {
        ["-c:v", "libx264", "-preset", "veryfast", "-x264-params", "scenecut=0:\(parameters)"]
    }

    private static func x265(_ parameters: String) -> [String] {
        [
            "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
            "log-level=error:scenecut=0:bframes=3:\(parameters)",
        ]
    }

    // A movie stores NAL units by length, a transport stream by start codes.

    @Test("H.264 of closed groups starts clean everywhere", arguments: ["mp4", "ts", "mkv"])
    func closedH264(container: String) throws {
        guard let kinds = try kinds(Self.x264("keyint=10:min-keyint=10:bframes=2"), container) else { return }
        #expect(kinds == Array(repeating: .clean, count: 5))
    }

    @Test("H.264 of open groups: an IDR picture first, then recovery points at once", arguments: ["mp4", "ts", "mkv"])
    func openH264(container: String) throws {
        guard let kinds = try kinds(Self.x264("keyint=10:min-keyint=10:bframes=2:open-gop=1"), container) else {
            return
        }
        #expect(kinds.first == .clean)
        #expect(kinds.count >= 4 && kinds.dropFirst().allSatisfy { $0 == .open }, "\(kinds)")
    }

    @Test("H.264 with intra refresh: recovery points some frames ahead")
    func intraRefresh() throws {
        guard let kinds = try kinds(Self.x264("keyint=10:bframes=0:intra-refresh=1"), "ts") else { return }
        #expect(kinds.first == .clean)
        #expect(kinds.count >= 3)
        for kind in kinds.dropFirst() {
            guard case .recovery(let frames) = kind else {
                Issue.record("\(kind) instead of a recovery point")
                continue
            }
            #expect((1...25).contains(frames))
        }
    }

    @Test("H.264 pictures that promise nothing are doubtful", arguments: ["mp4", "ts"])
    func inner(container: String) throws {
        guard let samples = try samples(Self.x264("keyint=10:bframes=2"), container) else { return }
        let inner = samples.filter { !$0.isSync }
        #expect(!inner.isEmpty && inner.allSatisfy { RandomAccessPoint.kind(of: $0) == .doubtful })
    }

    @Test("HEVC of closed groups starts with IDR pictures", arguments: ["mp4", "ts"])
    func closedHEVC(container: String) throws {
        guard let kinds = try kinds(Self.x265("keyint=10:min-keyint=10:open-gop=0"), container) else { return }
        #expect(kinds == Array(repeating: .clean, count: 5))
    }

    @Test("HEVC of open groups goes on with CRA pictures", arguments: ["mp4", "ts"])
    func openHEVC(container: String) throws {
        guard let samples = try samples(Self.x265("keyint=10:min-keyint=10:open-gop=1"), container) else { return }
        let kinds = samples.filter(\.isSync).map { RandomAccessPoint.kind(of: $0) }
        #expect(kinds.count >= 4 && kinds.dropFirst().allSatisfy { $0 == .open }, "\(kinds)")
        let inner = samples.filter { !$0.isSync }
        #expect(!inner.isEmpty && inner.allSatisfy { RandomAccessPoint.kind(of: $0) == .doubtful })
    }

    @Test("MPEG-2 says in its group header whether the group is closed")
    func mpeg2() throws {
        let open = ["-c:v", "mpeg2video", "-g", "10", "-bf", "2"]
        guard let opened = try kinds(open, "ts") else { return }
        #expect(opened.count >= 4 && opened.dropFirst().allSatisfy { $0 == .open }, "\(opened)")
        let closed = try kinds(open + ["-flags", "+cgop", "-sc_threshold", "1000000000"], "ts") ?? []
        #expect(closed.count >= 4 && closed.allSatisfy { $0 == .clean }, "\(closed)")
    }

    @Test("VP9 key frames start clean")
    func vp9() throws {
        let encoder = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-g", "10"]
        guard let kinds = try kinds(encoder, "webm") else { return }
        #expect(kinds.count >= 4 && kinds.allSatisfy { $0 == .clean })
    }

    @Test("Damaged bytes are judged without a crash", arguments: ["mp4", "ts"])
    func damaged(container: String) throws {
        for encoder in [Self.x264("keyint=10:open-gop=1"), Self.x265("keyint=10:open-gop=1")] {
            guard let samples = try samples(encoder, container) else { return }
            var random = SeededRandom(seed: 26)
            for sample in samples.filter(\.isSync) {
                let original = sample.withUnsafeBytes { Array($0) }
                for _ in 0..<200 {
                    var bytes = Array(original.prefix(Int.random(in: 0...original.count, using: &random)))
                    for _ in 0..<Int.random(in: 0...8, using: &random) where !bytes.isEmpty {
                        bytes[Int.random(in: 0..<min(64, bytes.count), using: &random)] =
                            [0, 1, 3, 0xFF].randomElement(
                                using: &random) ?? 0
                    }
                    _ = RandomAccessPoint.kind(of: try remade(sample, bytes))
                }
            }
        }
    }

    private func remade(_ sample: Sample, _ bytes: [UInt8]) throws -> Sample {
        try bytes.withUnsafeBytes {
            try Sample(
                bytes: $0, format: sample.format, timeBase: sample.timeBase, pts: 0, dts: 0, duration: 1, isSync: true)
        }
    }
}
