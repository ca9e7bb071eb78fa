import Support
import Testing

/// Real files into containers, with what ffprobe then says.
@Suite struct ColourTests {
    private static let fast = ["--audio", "none", "--encoder-option", "preset=ultrafast", "--end", "1"]
    private static let av1 = ["--audio", "none", "-c", "av1", "--encoder-option", "preset=10", "--end", "1"]

    struct Case: Sendable, CustomTestStringConvertible {
        let file: String
        let name: String
        let options: [String]
        let picture: String
        var testDescription: String { "\(file) as \(name)" }
    }

    @Test(
        "Size, depth, chroma, range and colour arrive, or are what the rule says",
        arguments: [
            Case(
                file: "firefox-esr--TestPatternHDR.mp4", name: "hlg.mp4", options: fast + ["--end", "0.2"],
                picture: "3840 2160 yuv420p10le tv bt2020nc arib-std-b67 bt2020"),
            Case(
                file: "media--trim_optimization_failure.mp4", name: "full.mp4", options: fast,
                picture: "518 488 yuvj420p pc bt709 bt709 bt709"),
            Case(
                file: "media--trim_optimization_failure.mp4", name: "full-hevc.mkv", options: fast + ["-c", "hevc"],
                picture: "518 488 yuvj420p pc bt709 bt709 bt709"),
            Case(
                file: "media--trim_optimization_failure.mp4", name: "full-av1.mp4", options: av1,
                picture: "518 488 yuv420p pc bt709 bt709 bt709"),
            Case(
                file: "media--trim_optimization_failure.mp4", name: "full-filtered.mp4",
                options: fast + ["--filter", "format=yuv420p,scale=260:-2"],
                picture: "260 244 yuvj420p pc bt709 bt709 bt709"),
            Case(
                file: "media--trim_optimization_failure.mp4", name: "limited.mov",
                options: ["--audio", "none", "-c", "prores", "--end", "1"],
                picture: "518 488 yuv422p10le tv bt709 bt709 bt709"),
            Case(
                file: "ExoPlayer--sample_with_av1c-2a4b1ec.mp4", name: "portrait.mp4", options: fast,
                picture: "720 1280 yuv420p10le tv bt2020nc arib-std-b67 bt2020"),
            Case(
                file: "torchcodec--var_fps_video-529b040.mp4", name: "full-chroma.mp4", options: fast,
                picture: "128 128 yuv444p tv - - -"),
            Case(
                file: "torchcodec--var_fps_video-529b040.mp4", name: "less-chroma.mp4", options: av1,
                picture: "128 128 yuv420p tv - - -"),
            // Only the decoded picture tells VP8's matrix (RFC 6386 §9.2).
            Case(
                file: "firefox-esr--no-cues.webm", name: "vp8.mp4", options: fast,
                picture: "320 240 yuv420p tv bt470bg - -"),
        ])
    func arrives(_ item: Case) throws {
        guard let source = RealMedia.path(item.file) else { return }
        let scratch = try ScratchFolder()
        let export = try Export(source, into: scratch, as: item.name, item.options)
        #expect(export.isProved, "\(export.complaint)")
        guard let probe = try Probe(export.output) else { return }
        #expect(probe.picture == item.picture)
    }

    @Test("A conversion that costs something is told")
    func tells() throws {
        guard let source = RealMedia.path("torchcodec--var_fps_video-529b040.mp4"),
            let full = RealMedia.path("media--trim_optimization_failure.mp4")
        else { return }
        let scratch = try ScratchFolder()
        let chroma = try Export(source, into: scratch, as: "a.mp4", Self.av1)
        #expect(chroma.warnings.contains { $0.contains("4:4:4 chroma becomes 4:2:0") })
        let range = try Export(full, into: scratch, as: "b.mov", ["--audio", "none", "-c", "prores", "--end", "0.5"])
        #expect(range.warnings.contains { $0.contains("limited range") })
    }

    @Test("The shape of a pixel is kept", arguments: ["mp4", "mkv", "ts"])
    func keepsAspect(_ container: String) throws {
        guard let source = RealMedia.path("ExoPlayer--video_desks.3gp") else { return }
        let scratch = try ScratchFolder()
        let export = try Export(source, into: scratch, as: "out.\(container)", Self.fast)
        #expect(export.isProved, "\(export.complaint)")
        #expect(try Probe(export.output)?.text("sample_aspect_ratio") ?? "12:11" == "12:11")
    }
}
