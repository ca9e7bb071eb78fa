import Support
import Testing

@Suite struct HighDynamicRangeTests {
    private static let fast = ["--audio", "none", "--encoder-option", "preset=ultrafast", "--end", "1"]

    @Test(
        "Mastering display and content light level reach the container and the bit stream",
        arguments: [
            ("libx264", "h264", "mp4", false), ("libx265", "hevc", "mp4", true), ("libx265", "hevc", "mkv", true),
            ("libsvtav1", "av1", "mp4", true), ("libvpx-vp9", "vp9", "webm", false),
        ])
    func carriesStatic(encoder: String, codec: String, container: String, isSeenInFrames: Bool) throws {
        guard let source = RealMedia.path("hdr10plus_tool--regular.mkv") else { return }
        let scratch = try ScratchFolder()
        let speed =
            ["libx264", "libx265"].contains(encoder)
            ? "preset=ultrafast" : encoder == "libsvtav1" ? "preset=10" : "deadline=realtime"
        let export = try Export(
            source, into: scratch, as: "out.\(container)",
            [
                "--audio", "none", "-c", codec, "--encoder", encoder, "--encoder-option", speed, "--end", "1",
                "--allow-loss", "hdr10plus",
            ])
        #expect(export.isProved, "\(export.complaint)")
        guard let probe = try Probe(export.output) else { return }
        #expect(probe.trackSideData["Content light level metadata"]?["max_content"] as? Int == 1000)
        #expect(probe.trackSideData["Mastering display metadata"] != nil)
        // ffprobe 5.1 does not read H.264's; VP9 has no place for them.
        if isSeenInFrames { #expect(probe.frameSideData["Mastering display metadata"] != nil) }
        #expect(probe.text("color_transfer") == "smpte2084")
    }

    @Test(
        "Dynamic metadata that would be lost stops the export before anything is encoded, unless it is allowed",
        arguments: [("hdr10plus_tool--regular.mkv", "hdr10plus"), ("dovi_tool--regular.mkv", "dolby-vision")])
    func stops(file: String, word: String) throws {
        guard let source = RealMedia.path(file) else { return }
        let scratch = try ScratchFolder()
        let refused = try Export(source, into: scratch, as: "out.mp4", Self.fast)
        #expect(refused.exitCode == 64)
        #expect(refused.complaint.contains("--allow-loss \(word)"))
        #expect(try !scratch.names.contains("out.mp4"))
        let allowed = try Export(source, into: scratch, as: "out.mp4", Self.fast + ["--allow-loss", word, "--strict"])
        #expect(allowed.isProved, "\(allowed.complaint)")
        #expect(allowed.losses.contains { $0.contains("as allowed") })
    }

    @Test(
        "HEVC keeps the dynamic metadata of every picture of an HEVC source",
        arguments: [
            ("hdr10plus_tool--regular.mkv", "SMPTE2094-40", "mp4"),
            ("hdr10plus_tool--regular.mkv", "SMPTE2094-40", "ts"),
            ("dovi_tool--regular.mkv", "Dolby Vision Metadata", "mp4"),
            ("dovi_tool--regular.mkv", "Dolby Vision Metadata", "mkv"),
        ])
    func carriesDynamic(file: String, kind: String, container: String) throws {
        guard let source = RealMedia.path(file) else { return }
        let scratch = try ScratchFolder()
        let export = try Export(
            source, into: scratch, as: "out.\(container)",
            ["--audio", "none", "-c", "hevc", "--encoder-option", "preset=ultrafast", "--strict"])
        #expect(export.isProved && export.losses.isEmpty, "\(export.complaint)")
        guard let there = try sideData(kind, of: export.output) else { return }
        #expect(try there == sideData(kind, of: source))
        #expect(there.count == 259)
        if kind.hasPrefix("Dolby") {
            #expect(try Probe(export.output)?.trackSideData["DOVI configuration record"] != nil)
        }
    }

    @Test(
        "--tonemap sdr gives 8-bit BT.709 without what described the high dynamic range",
        arguments: [
            "hdr10plus_tool--regular.mkv", "media--sample_edit_list_no_sync_frame_before_edit.mp4",
        ])
    func mapsTone(_ file: String) throws {
        guard let source = RealMedia.path(file) else { return }
        let scratch = try ScratchFolder()
        let export = try Export(
            source, into: scratch, as: "out.mp4", Self.fast + ["--end", "0.2", "--tonemap", "sdr"])
        #expect(export.isProved, "\(export.complaint)")
        guard let probe = try Probe(export.output) else { return }
        #expect(probe.picture.hasSuffix("yuv420p tv bt709 bt709 bt709"))
        #expect(probe.trackSideData["Mastering display metadata"] == nil)
    }
}
