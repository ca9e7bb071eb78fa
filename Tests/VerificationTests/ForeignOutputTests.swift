internal import Foundation
internal import MediaTime
internal import Support
internal import Testing
internal import Verification

/// What other programs and scripts make of a film, and files that are broken in their structure.
@Suite("Outputs of other programs")
struct ForeignOutputTests {
    /// Three parts of two seconds, each encoded anew and alone, as scripts do it.
    private static func parts(_ suffix: String) -> [String]? {
        let parts = (0..<3).map { number in
            Clips.make(
                "part-\(number).\(suffix)",
                "-ss \(number * 2) -t 2 -i SOURCE -map 0:v -map 0:a -c:v libx264 -preset veryfast -crf 12 -c:a aac")
        }
        return parts.allSatisfy { $0 != nil } ? parts.compactMap(\.self) : nil
    }

    @Test("an ordinary script that splits, encodes and concatenates is caught at the joins of its sound")
    func concatenated() throws {
        guard let source = Clips.source else { return }
        let parts = try #require(Self.parts("mp4"))
        let list = Clips.folder + "/parts.txt"
        try parts.map { "file \($0)\n" }.joined().write(toFile: list, atomically: true, encoding: .utf8)
        let output = try #require(Clips.make("concatenated.mp4", "-f concat -safe 0 -i \(list) -map 0 -c copy"))
        let report = try Verifier(source: source, output: output, full: false).report()
        #expect(report.findings.contains { $0.kind == .soundOverlap && $0.track == 1 }, "\(report.findings)")
        #expect(report.findings.contains { $0.kind == .missingTrack && $0.track == 2 })
    }

    @Test("transport streams put one behind the other have decode times that go back")
    func joinedStreams() throws {
        guard let source = Clips.source else { return }
        let parts = try #require(Self.parts("ts"))
        let output = Clips.folder + "/joined.ts"
        let bytes = try parts.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }.reduce(Data(), +)
        try bytes.write(to: URL(fileURLWithPath: output))
        let report = try Verifier(source: source, output: output, full: false).report()
        #expect(
            report.findings.contains { $0.kind == .decodeOrder && $0.detail.contains("do not rise") },
            "\(report.findings)")
    }

    @Test("chunk offsets of 32 bits in a file beyond 4 GiB are caught")
    func chunkOffsets() throws {
        guard let source = Clips.source else { return }
        // ffmpeg leaves eight bytes before the media for a longer size: used here for one of 5 GiB, most of it a hole.
        let small = try #require(Clips.make("small.mp4", "-i SOURCE -map 0 -c copy -movflags +faststart"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: small))
        let place = try #require(bytes.range(of: Data("free".utf8))).lowerBound - 4
        #expect(bytes[(place + 12)..<(place + 16)] == Data("mdat".utf8))
        let size: UInt64 = 5 << 30
        bytes.replaceSubrange(
            place..<(place + 16),
            with: [0, 0, 0, 1] + Array("mdat".utf8) + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) })
        let path = Clips.folder + "/large.mp4"
        try bytes.write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: UInt64(place) + size)
        try file.close()
        let report = try Verifier(source: source, output: path, full: false).report()
        #expect(report.findings.map(\.kind) == [.container], "\(report.findings)")
        #expect(report.findings.first?.detail.contains("co64") == true)
    }

    @Test("sound that drifts by 30 ms in a minute, although both ends lie where they should, is heard to drift")
    func drift() throws {
        guard Clips.source != nil, let film = RealMedia.path("firefox-esr--movie_300.mp4") else { return }
        // 22,050 Hz played as if it were 22,039: the rest is cut off at the end.
        let output = try #require(
            Clips.make(
                "drift.mp4",
                "-i SOURCE -i SOURCE -map 0:v -map 1:a -c:v copy -c:a aac -af asetrate=22039,aresample=22050 -t 60",
                input: film))
        let report = try Verifier(
            source: film, output: output, full: true, range: .init(end: .init(value: 60, timescale: 1))
        ).report()
        let worst = report.sync.filter { $0.method == "content" }.map { abs($0.offset) }.max() ?? 0
        #expect(report.findings.contains { $0.kind == .soundOffset }, "\(report.findings) \(report.sync)")
        #expect(worst > 0.02 && worst < 0.035, "\(report.sync)")
    }
}
