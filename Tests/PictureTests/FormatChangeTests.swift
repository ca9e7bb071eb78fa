import Support
import Testing

@Suite struct FormatChangeTests {
    @Test("A change of size is brought to the first size and told; --strict refuses it")
    func changes() throws {
        guard let source = RealMedia.path("firefox-esr--400x300-red-resize-200x150-green.mp4") else { return }
        let scratch = try ScratchFolder()
        let options = ["--encoder-option", "preset=ultrafast"]
        let export = try Export(source, into: scratch, as: "out.mp4", options)
        #expect(export.isProved, "\(export.complaint)")
        #expect(export.warnings.contains { $0.contains("picture format changes") })
        #expect(try Probe(export.output)?.picture.hasPrefix("400 300 ") ?? true)
        let strict = try Export(source, into: scratch, as: "strict.mp4", options + ["--strict"])
        #expect(strict.exitCode == 1)
        #expect(try !scratch.names.contains("strict.mp4"))
    }

    @Test("A filter that makes other frames is compared with what was encoded, and that is told")
    func otherFrames() throws {
        guard let source = RealMedia.path("firefox-esr--no-cues.webm") else { return }
        let scratch = try ScratchFolder()
        let export = try Export(
            source, into: scratch, as: "out.mp4", ["--encoder-option", "preset=ultrafast", "--filter", "fps=10"])
        #expect(export.isProved, "\(export.complaint)")
        #expect(export.warnings.contains { $0.contains("proof compares the output with the encoded frames") })
    }
}
