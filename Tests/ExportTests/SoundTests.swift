internal import Foundation
internal import Support
internal import Testing

/// Sound that is not one even stream.
@Suite("Awkward sound")
struct SoundTests {
    /// Six seconds of picture, and sound with the given options.
    private func clip(_ path: String, _ sound: [String], picture: String = "6") throws -> Bool {
        try FFmpegProgram.run(
            [
                "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=\(picture)", "-f", "lavfi", "-i",
                "sine=f=440:r=48000:d=6", "-c:v", "libx264", "-preset", "ultrafast", "-g", "50",
            ] + sound + [path])
    }

    private static let fast = ["--encoder-option", "preset=ultrafast", "--segment-duration", "2"]

    struct Route: CustomTestStringConvertible, Sendable {
        var name: String
        var sound: String
        var testDescription: String { "\(sound) in \(name)" }
    }

    /// Where sound pauses: when the first part ends and when the second begins, after the picture's start; seconds.
    private func pause(_ path: String) throws -> (from: Double, to: Double) {
        let outcome = try Program.run(
            "ffmpeg",
            [
                "-i", path, "-map", "0:a:0", "-af", "aresample=async=1:first_pts=0,silencedetect=n=-50dB:d=0.3", "-f",
                "null", "-",
            ])
        func number(_ name: String) -> Double? {
            outcome.errors.components(separatedBy: name + ": ").dropFirst().first
                .flatMap { Double($0.prefix { "0123456789.-".contains($0) }) }
        }
        return (
            try #require(number("silence_start"), "\(outcome.errors.suffix(600))"), try #require(number("silence_end"))
        )
    }

    @Test(
        "A gap stays a gap of the same length, copied or encoded, in each container",
        arguments: [
            Route(name: "a.mp4", sound: "copy"), Route(name: "a.mkv", sound: "copy"),
            Route(name: "a.ts", sound: "copy"),
            Route(name: "a.mov", sound: "aac"), Route(name: "a.mkv", sound: "opus"),
            Route(name: "b.mkv", sound: "flac"),
            Route(name: "b.mp4", sound: "aac"),
        ])
    func gap(_ route: Route) throws {
        let workplace = try Workplace()
        let source = workplace.file("source.mp4")
        // A second is missing from 2.048 s on, where a packet begins.
        guard
            try clip(source, ["-c:a", "aac", "-bsf:a", "noise=drop='between(n,97,143)'"])
        else { return }
        let before = try pause(source)
        let (report, errors) = try workplace.export(
            source, route.name, ["--video-codec", "copy", "--audio", route.sound])
        #expect(try #require(report, "\(errors)").proof.pass)
        let after = try pause(workplace.file(route.name))
        // AAC fades over a packet.
        #expect(abs(before.from - after.from) < 0.025)
        #expect(abs(before.to - after.to) < 0.025)
    }

    @Test("A gap longer than the film is not believed: no hours of silence are made, and what lies behind is named")
    func hostileGap() throws {
        let workplace = try Workplace()
        let source = workplace.file("source.mkv")
        guard
            try clip(
                source, ["-c:a", "aac", "-bsf:a", "setts=ts=if(lt(N\\,100)\\,PTS\\,PTS+36000/TB)"])
        else { return }
        let (report, errors) = try workplace.export(source, "out.mp4", Self.fast + ["--audio", "aac"])
        let result = try #require(report, "\(errors)")
        #expect(result.losses.contains { $0.contains("longer than the film") })
        let size = try FileManager.default.attributesOfItem(atPath: workplace.file("out.mp4"))[.size] as? Int ?? 0
        #expect(size < 3_000_000)
        let strict = try workplace.export(source, "strict.mp4", Self.fast + ["--audio", "aac", "--strict"])
        #expect(strict.report == nil)
    }

    @Test(
        "A rate and a layout that change in the middle are converted, told, and cost no sample of the length",
        arguments: ["aac", "flac"])
    func formatChange(codec: String) throws {
        let workplace = try Workplace()
        let parts = [("0.ts", "44100", "1"), ("1.ts", "48000", "2")]
        for (number, part) in parts.enumerated() {
            guard
                try clip(
                    workplace.file(part.0),
                    [
                        "-c:a", "aac", "-ar", part.1, "-ac", part.2, "-shortest", "-output_ts_offset",
                        "\(10 + number * 6)",
                    ])
            else { return }
        }
        let source = workplace.file("source.ts")
        try parts.reduce(into: Data()) { $0 += try Data(contentsOf: URL(fileURLWithPath: workplace.file($1.0))) }
            .write(to: URL(fileURLWithPath: source))
        let (report, errors) = try workplace.export(source, "out.mkv", Self.fast + ["--audio", codec])
        let result = try #require(report, "\(errors)")
        #expect(result.proof.pass)
        #expect(result.warnings.contains { $0.contains("44100 Hz mono") && $0.contains("48000 Hz stereo") })
        let sound = try #require(try Judge(path: workplace.file("out.mkv")).sound())
        #expect(abs(Double(sound.count) / Double(sound.rate) - 12) < 0.08)
    }

    @Test(
        "Copied AAC whose rate and channels change is told, and a loss where the container tells one form alone",
        arguments: ["mp4", "mkv", "ts"])
    func changingForm(container: String) throws {
        let workplace = try Workplace()
        var joined = Data()
        for (number, form) in [["-ar", "48000", "-ac", "2"], ["-ar", "44100", "-ac", "1"]].enumerated() {
            let part = workplace.file("\(number).ts")
            guard
                try clip(part, ["-t", "3", "-c:a", "aac", "-output_ts_offset", "\(number * 3)"] + form, picture: "3")
            else { return }
            joined += try Data(contentsOf: URL(fileURLWithPath: part))
        }
        let source = workplace.file("source.ts")
        try joined.write(to: URL(fileURLWithPath: source))
        let options = ["--video-codec", "copy", "--audio", "copy"]
        let (report, errors) = try workplace.export(source, "out.\(container)", options)
        let result = try #require(report, "\(errors)")
        let words = "changes from 48000 Hz with 2 channels to 44100 Hz with 1 channel at "
        #expect(result.losses.contains { $0.contains(words) } == (container != "ts"), "\(result.losses)")
        #expect(result.warnings.contains { $0.contains(words) } == (container == "ts"), "\(result.warnings)")
        let strict = try workplace.export(source, "strict.\(container)", options + ["--strict"])
        #expect((strict.report == nil) == (container != "ts"), "\(strict.errors)")
    }
}
