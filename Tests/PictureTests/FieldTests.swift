import Support
import Testing

@Suite struct FieldTests {
    private static let file = "tsduck-test--test-025.ts"
    private static let fast = ["--audio", "none", "--encoder-option", "preset=ultrafast"]

    @Test("Interlaced pictures stay interlaced, top field first, where the encoder codes fields")
    func keeps() throws {
        guard let source = RealMedia.path(Self.file) else { return }
        let scratch = try ScratchFolder()
        let x264 = try Export(source, into: scratch, as: "out.mp4", Self.fast)
        let prores = try Export(source, into: scratch, as: "out.mov", ["--audio", "none", "-c", "prores"])
        for export in [x264, prores] {
            #expect(export.isProved, "\(export.complaint)")
            guard let probe = try Probe(export.output) else { return }
            #expect(probe.text("field_order") == "tt")
            #expect(probe.frame["interlaced_frame"] as? Int == 1)
            #expect(probe.frame["top_field_first"] as? Int == 1)
        }
    }

    @Test("Where it does not, the loss is named; --deinterlace auto makes frames")
    func names() throws {
        guard let source = RealMedia.path(Self.file) else { return }
        let scratch = try ScratchFolder()
        let lost = try Export(source, into: scratch, as: "a.mp4", Self.fast + ["-c", "hevc"])
        #expect(lost.losses.contains { $0.contains("field order is not carried") })
        let made = try Export(source, into: scratch, as: "b.mp4", Self.fast + ["--deinterlace", "auto"])
        #expect(made.isProved && !made.losses.contains { $0.contains("field") }, "\(made.complaint)")
        #expect(try Probe(made.output)?.frame["interlaced_frame"] as? Int ?? 0 == 0)
    }

    @Test("A deinterlaced export of many segments has the pictures of one pass")
    func joins() throws {
        let scratch = try ScratchFolder()
        let clip = scratch.file("clip.ts")
        guard
            try FFmpegProgram.run([
                "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50:duration=9", "-vf",
                "noise=alls=12:allf=t:all_seed=7,tinterlace=interleave_top", "-c:v", "mpeg2video", "-flags",
                "+ildct+ilme", "-top", "1", "-g", "12", "-bf", "2", "-q:v", "3", clip,
            ])
        else { return }
        let export = try Export(
            clip, into: scratch, as: "out.mp4",
            Self.fast + ["--encoder-option", "qp=0", "--segment-duration", "2", "--deinterlace", "auto"])
        #expect(export.isProved, "\(export.complaint)")
        #expect(export.segments > 2)
        let onePass = try pictureHashes(clip, filter: "bwdif=mode=send_frame:deint=interlaced", scratch: scratch)
        #expect(try pictureHashes(export.output, scratch: scratch) == onePass)
    }
}
