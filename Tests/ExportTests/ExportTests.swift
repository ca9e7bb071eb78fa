internal import Foundation
internal import Testing

/// Whole exports with the program itself, judged by ffprobe and ffmpeg.
@Suite("Exports", .serialized)
struct ExportTests {
    private static let fast = ["--encoder-option", "preset=ultrafast", "--segment-duration", "2"]

    /// A clip of six seconds whose sound starts half a second late.
    private static func clip(_ workplace: Workplace) throws -> String {
        let path = workplace.file("clip.mkv")
        let outcome = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=30000/1001:d=6", "-itsoffset", "0.5", "-f",
                "lavfi", "-i", "sine=r=44100:d=5", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "30",
                "-c:a", "flac", path,
            ])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return path
    }

    struct Route: CustomTestStringConvertible, Sendable {
        var name: String
        var options: [String]
        /// The container tells players where the priming ends.
        var marksPriming = true
        var testDescription: String { name + " " + options.joined(separator: " ") }
    }

    static let routes: [Route] = [
        Route(name: "a.mp4", options: fast + ["--audio", "aac"]),
        Route(name: "a.mp4", options: fast + ["--audio", "opus"]),
        Route(name: "a.mp4", options: fast + ["--audio", "flac"]),
        Route(name: "a.mov", options: fast + ["--audio", "aac"]),
        Route(name: "a.mkv", options: fast + ["--audio", "opus"]),
        Route(name: "a.mkv", options: fast + ["--audio", "flac"]),
        Route(name: "a.mkv", options: ["--video-codec", "copy", "--audio", "copy"]),
        Route(name: "a.mp4", options: ["--video-codec", "copy", "--audio", "aac"]),
        Route(name: "a.ts", options: ["--video-codec", "copy", "--audio", "aac"], marksPriming: false),
        Route(name: "a.ts", options: fast + ["--audio", "aac"], marksPriming: false),
        Route(
            name: "a.webm",
            options: [
                "--video-codec", "vp9", "--encoder-option", "deadline=realtime", "--encoder-option", "cpu-used=8",
                "--audio", "opus", "--segment-duration", "2",
            ]),
        Route(
            name: "a.mkv", options: ["--video-codec", "hevc", "--audio", "flac"] + fast),
        Route(
            name: "a.mp4", options: ["--video-codec", "av1", "--encoder-option", "preset=12", "--audio", "flac"]),
        Route(name: "a.mov", options: ["--video-codec", "prores", "--audio", "aac"]),
    ]

    @Test("every picture keeps its time, sound its place and its length, and the file is clean", arguments: routes)
    func isExact(_ route: Route) throws {
        let workplace = try Workplace()
        let source = Judge(path: try Self.clip(workplace))
        let (report, errors) = try workplace.export(source.path, route.name, route.options)
        let result = try #require(report, "\(errors)")
        #expect(result.proof.pass)
        let output = Judge(path: workplace.file(route.name))
        let stored = try output.storedPictures()
        let original = try source.storedPictures()
        #expect(stored.times.difference(from: original.times) == nil)
        #expect(stored.decodeTimesRise)
        #expect(try output.complaints() == "")
        if route.name.hasSuffix("mp4") || route.name.hasSuffix("mov") {
            let boxes = try output.boxes()
            let index = try #require(boxes.firstIndex(of: "moov"))
            #expect(index < boxes.firstIndex(of: "mdat") ?? 0)
        }
        guard route.marksPriming else { return }
        try compareSound(source, output, original.times, stored.times)
    }

    private func compareSound(
        _ source: Judge, _ output: Judge, _ original: Judge.Times, _ stored: Judge.Times
    ) throws {
        let before = try #require(try source.sound())
        let after = try #require(try output.sound())
        let offsets = [(before.start, original), (after.start, stored)].map { $0.0 - ($0.1.times.first ?? 0) }
        #expect(abs(offsets[0] - offsets[1]) <= 0.002)
        let expected = Double(before.count) * Double(after.rate) / Double(before.rate)
        // ffmpeg cuts the end of a movie's track by whole packets only: up to one packet more is decoded than the edit list holds.
        let surplus = output.path.hasSuffix("mkv") || output.path.hasSuffix("webm") ? 2.0 : 1024
        #expect(Double(after.count) >= expected - 2 && Double(after.count) <= expected + surplus)
    }

    @Test("a part of the source has exactly its frames, wherever in a group it starts")
    func partIsExact() throws {
        let workplace = try Workplace()
        let source = Judge(path: try Self.clip(workplace))
        let (report, errors) = try workplace.export(
            source.path, "part.mp4", Self.fast + ["--start", "1.5", "--end", "4.2", "--audio", "flac"])
        #expect(try #require(report, "\(errors)").proof.pass)
        let all = try source.storedPictures().times.times
        let first = all.first ?? 0
        let wanted = all.map { $0 - first }.filter { $0 >= 1.5 - 0.0005 && $0 < 4.2 - 0.0005 }
        let stored = try Judge(path: workplace.file("part.mp4")).storedPictures()
        #expect(stored.times.times.count == wanted.count)
    }

    @Test("the same export twice, with one worker and with two, is the same file")
    func isRepeatable() throws {
        let workplace = try Workplace()
        let source = try Self.clip(workplace)
        for (name, workers) in [("one.mp4", "1"), ("two.mp4", "2")] {
            let (report, errors) = try workplace.export(
                source, name, Self.fast + ["--audio", "aac", "--workers", workers])
            _ = try #require(report, "\(errors)")
        }
        #expect(
            FileManager.default.contentsEqual(atPath: workplace.file("one.mp4"), andPath: workplace.file("two.mp4")))
    }
}
