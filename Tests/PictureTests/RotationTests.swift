import Support
import Testing

@Suite struct RotationTests {
    private static let file = "media--sample_edit_list_no_sync_frame_before_edit.mp4"
    private static let options = [
        "--audio", "none", "--encoder-option", "preset=ultrafast", "--end", "0.2", "--allow-loss", "dolby-vision",
    ]

    @Test("MP4 carries the rotation", arguments: ["mp4", "mov"])
    func carries(_ container: String) throws {
        guard let source = RealMedia.path(Self.file) else { return }
        let scratch = try ScratchFolder()
        let export = try Export(source, into: scratch, as: "out.\(container)", Self.options)
        #expect(export.isProved, "\(export.complaint)")
        #expect(try Probe(export.output)?.trackSideData["Display Matrix"]?["rotation"] as? Int == -90)
    }

    @Test("Where the container holds no rotation the loss is named, and --strict refuses it")
    func names() throws {
        guard let source = RealMedia.path(Self.file) else { return }
        let scratch = try ScratchFolder()
        let export = try Export(source, into: scratch, as: "out.mkv", Self.options)
        #expect(export.losses.contains { $0.contains("rotation by 90 degrees") })
        let strict = try Export(source, into: scratch, as: "strict.mkv", Self.options + ["--strict"])
        #expect(strict.exitCode == 1)
        #expect(try !scratch.names.contains("strict.mkv"))
    }

    @Test("--apply-rotation turns the pixels and leaves no matrix")
    func turns() throws {
        guard let source = RealMedia.path(Self.file) else { return }
        let scratch = try ScratchFolder()
        let export = try Export(source, into: scratch, as: "out.mkv", Self.options + ["--apply-rotation"])
        #expect(export.isProved && !export.losses.contains { $0.contains("rotation") }, "\(export.complaint)")
        guard let probe = try Probe(export.output) else { return }
        #expect(probe.picture.hasPrefix("1080 1920 "))
        #expect(probe.trackSideData["Display Matrix"] == nil)
    }
}
