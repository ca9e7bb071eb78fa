internal import Foundation
internal import Support
internal import Testing

/// Where sound is heard, to the sample, whatever codecs put before it and containers can tell.
@Suite("The place of sound")
struct SoundPlaceTests {
    struct Route: CustomTestStringConvertible, Sendable {
        var source: String
        var codec: String
        var target: String
        var sound: String
        /// Samples by which the containers' rounding may move what is heard.
        var rounding: Int

        var testDescription: String { "\(codec) in \(source), \(sound) into \(target)" }
    }

    /// Matroska tells milliseconds: half of one for the sound and half for the picture, 48 samples.
    private static let routes = [
        Route(source: "ts", codec: "aac", target: "mp4", sound: "copy", rounding: 0),
        Route(source: "ts", codec: "aac", target: "mkv", sound: "aac", rounding: 48),
        Route(source: "mp4", codec: "aac", target: "ts", sound: "copy", rounding: 1),
        Route(source: "mp4", codec: "aac", target: "mov", sound: "copy", rounding: 0),
        Route(source: "ts", codec: "eac3", target: "mp4", sound: "copy", rounding: 0),
        Route(source: "ts", codec: "eac3", target: "mkv", sound: "aac", rounding: 48),
        Route(source: "mkv", codec: "eac3", target: "mp4", sound: "aac", rounding: 24),
        Route(source: "ts", codec: "ac3", target: "mkv", sound: "copy", rounding: 48),
        Route(source: "mkv", codec: "pcm_s16le", target: "ts", sound: "aac", rounding: 1),
        Route(source: "mov", codec: "pcm_s16le", target: "mkv", sound: "flac", rounding: 48),
        Route(source: "mkv", codec: "pcm_s16le", target: "mp4", sound: "opus", rounding: 0),
        Route(source: "mkv", codec: "libopus", target: "mp4", sound: "copy", rounding: 48),
        Route(source: "mp4", codec: "libmp3lame", target: "mkv", sound: "copy", rounding: 48),
        Route(source: "ts", codec: "libmp3lame", target: "mp4", sound: "aac", rounding: 1),
        Route(source: "mkv", codec: "libvorbis", target: "mp4", sound: "aac", rounding: 24),
        Route(source: "mkv", codec: "flac", target: "mp4", sound: "aac", rounding: 0),
    ]

    /// Three seconds of picture and noise, which is like itself at one place only.
    private func clip(_ path: String, _ codec: String, delay: Double = 0) throws -> Bool {
        try FFmpegProgram.run(
            [
                "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=3", "-itsoffset", "\(delay)", "-f", "lavfi", "-i",
                "anoisesrc=d=3:a=0.3:seed=5:r=48000,lowpass=f=6000", "-c:v", "libx264", "-preset", "ultrafast", "-g",
                "25",
                "-c:a", codec, "-b:a", "128k", path,
            ])
    }

    /// What one pass of ffmpeg hears, and where after the first picture that begins, in samples.
    private func heard(_ path: String) throws -> (start: Double, samples: [Float]) {
        func first(_ kind: String) throws -> Double {
            let shown = try Program.run(
                "ffprobe",
                [
                    "-v", "error", "-select_streams", "\(kind):0", "-read_intervals", "%+#8", "-show_entries",
                    "frame=best_effort_timestamp_time", "-of", "csv=p=0", path,
                ])
            let times = String(decoding: shown.output, as: UTF8.self).split(whereSeparator: { ",\n".contains($0) })
            return try #require(times.compactMap { Double($0) }.min())
        }
        let decoded = try Program.run(
            "ffmpeg", ["-v", "error", "-i", path, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f", "f32le", "-"])
        let samples = decoded.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        return (try (first("a") - first("v")) * 48000, samples)
    }

    /// Samples by which what is heard comes later in the second file.
    private func delay(_ source: String, _ output: String) throws -> Double {
        let (left, right) = (try heard(source), try heard(output))
        let (from, count, reach) = (30_000, 6000, 4000)
        try #require(left.samples.count > from + count && right.samples.count > from + count + reach)
        var best = (lag: 0, value: -Float.infinity)
        left.samples.withUnsafeBufferPointer { left in
            right.samples.withUnsafeBufferPointer { right in
                for lag in -reach...reach {
                    var sum: Float = 0
                    for index in from..<from + count { sum += left[index] * right[index &+ lag] }
                    if sum > best.value { best = (lag, sum) }
                }
            }
        }
        return right.start - left.start + Double(best.lag)
    }

    @Test("What is heard stays where it was against the picture, and verify says so", arguments: routes)
    func place(_ route: Route) throws {
        let workplace = try Workplace()
        let source = workplace.file("source.\(route.source)")
        guard try clip(source, route.codec) else { return }
        let (report, errors) = try workplace.export(
            source, "out.\(route.target)", ["--video-codec", "copy", "--audio", route.sound])
        #expect(report != nil, "\(errors)")
        let output = workplace.file("out.\(route.target)")
        let late = try delay(source, output)
        // ffprobe rounds its times to a microsecond.
        #expect(abs(late) <= Double(route.rounding) + 0.2, "\(late) samples late")
        let judged = try Program.run(Program.weft, ["verify", source, output])
        #expect(judged.status == 0, "\(String(decoding: judged.output, as: UTF8.self))\(judged.errors)")
    }

    @Test(
        "Sound that is 20 ms late fails, from every codec", arguments: ["aac", "ac3", "libopus", "libvorbis", "flac"])
    func late(codec: String) throws {
        let workplace = try Workplace()
        let (source, late) = (workplace.file("source.mkv"), workplace.file("late.mkv"))
        guard try clip(source, codec), try clip(late, "aac", delay: 0.02) else { return }
        #expect(try findings(source, late).contains("sound-offset"))
    }

    /// Its first packet of AAC decodes to nothing and lasts 67 ms.
    @Test("A first packet that gives no sound is none", arguments: ["mkv", "mp4", "mov", "ts"])
    func silentPacket(container: String) throws {
        guard let source = RealMedia.path("media--sample_with_chapters.mp4") else { return }
        let workplace = try Workplace()
        let (report, errors) = try workplace.export(
            source, "out.\(container)", ["--encoder-option", "preset=ultrafast", "--audio", "aac"])
        #expect(report != nil, "\(errors)")
        let findings = try findings(source, workplace.file("out.\(container)"))
        #expect(!findings.contains { $0.hasPrefix("sound") }, "\(findings)")
    }

    private func findings(_ source: String, _ output: String) throws -> [String] {
        struct Answer: Decodable {
            struct Finding: Decodable { var kind: String }
            var findings: [Finding]
        }
        let judged = try Program.run(Program.weft, ["verify", source, output, "--json"])
        return try JSONDecoder().decode(Answer.self, from: judged.output).findings.map(\.kind)
    }

    @Test("The padding at the end of copied Opus is told by the movie it is put into")
    func padding() throws {
        let workplace = try Workplace()
        let source = workplace.file("source.mkv")
        guard try clip(source, "libopus") else { return }
        let (report, errors) = try workplace.export(source, "out.mp4", ["--video-codec", "copy"])
        #expect(report != nil, "\(errors)")
        let shown = try Program.run(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "a:0", "-show_entries", "packet=duration", "-of", "csv=p=0",
                workplace.file("out.mp4"),
            ])
        let lengths = String(decoding: shown.output, as: UTF8.self).split(whereSeparator: { ",\n".contains($0) })
        // 3 s and 312 samples of pre-skip are 150 packets of 960 samples and 312 of another.
        #expect(lengths.last == "312", "\(lengths.suffix(3))")
    }
}
