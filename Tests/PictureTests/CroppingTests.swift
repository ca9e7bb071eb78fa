import Foundation
import Media
import Support
import Testing

/// What a container has cut off before pictures are shown. What bit streams cut off: `PixelTests`.
@Suite struct CroppingTests {
    private static let exact = ["-c", "h264", "-o", "qp=0", "-o", "preset=ultrafast"]

    private func clip(_ name: String, in scratch: ScratchFolder, filter: String = "null", _ options: [String] = [])
        throws -> String?
    {
        let path = scratch.file(name)
        let made = try FFmpegProgram.run(
            [
                "-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=4", "-vf", filter, "-c:v", "libx264", "-preset",
                "ultrafast",
            ]
                + ["-g", "25"] + options + [path])
        return made ? path : nil
    }

    private func cropped(_ path: String, _ values: [String: String]) throws -> Bool {
        try MatroskaProperties.set(values, track: "v1", of: path)
    }

    @Test("What Matroska cuts off is cut off in every segment, told, and taken for right by verify")
    func matroska() throws {
        let scratch = try ScratchFolder()
        guard let source = try clip("a.mkv", in: scratch),
            try cropped(source, ["pixel-crop-top": "10", "pixel-crop-bottom": "14", "pixel-crop-left": "8"])
        else { return }
        let export = try Export(
            source, into: scratch, as: "out.mp4", Self.exact + ["--segment-duration", "2", "--workers", "2"])
        #expect(export.isProved && export.segments == 2, "\(export.complaint)")
        #expect(export.warnings.contains { $0.contains("192×128 becomes 184×104") }, "\(export.warnings)")
        let wanted = try pictureHashes(source, filter: "crop=184:104:8:10", scratch: scratch)
        #expect(try pictureHashes(export.output, scratch: scratch) == wanted)
        #expect(try Export.findings(source, export.output) == [])
    }

    @Test("What HEVC cuts off by itself is cut off once")
    func conformanceWindow() throws {
        let scratch = try ScratchFolder()
        let source = scratch.file("source.mkv")
        let clip = [
            "-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=0.4", "-c:v", "libx265", "-preset", "ultrafast",
            "-x265-params",
            "log-level=none", "-bsf:v", "hevc_metadata=crop_left=16:crop_bottom=6", source,
        ]
        guard try FFmpegProgram.run(clip) else { return }
        let export = try Export(source, into: scratch, as: "out.mp4", Self.exact)
        #expect(export.isProved, "\(export.complaint)")
        #expect(!export.warnings.contains { $0.contains("cropping") }, "\(export.warnings)")
        #expect(try Probe(export.output)?.text("height") == "122")
        #expect(try pictureHashes(export.output, scratch: scratch) == pictureHashes(source, scratch: scratch))
    }

    @Test("An edge in the middle of a colour sample is moved outwards, and told")
    func odd() throws {
        let scratch = try ScratchFolder()
        guard let source = try clip("a.mkv", in: scratch),
            try cropped(source, ["pixel-crop-top": "3", "pixel-crop-left": "7", "pixel-crop-right": "1"])
        else { return }
        let export = try Export(source, into: scratch, as: "out.mkv", Self.exact)
        #expect(export.isProved, "\(export.complaint)")
        #expect(export.warnings.contains { $0.contains("Exactly it would be 184×125") }, "\(export.warnings)")
        let wanted = try pictureHashes(source, filter: "crop=186:126:6:2", scratch: scratch)
        #expect(try pictureHashes(export.output, scratch: scratch) == wanted)
    }

    @Test("Cropping keeps which field comes first")
    func fields() throws {
        let scratch = try ScratchFolder()
        let options = ["-flags", "+ildct+ilme", "-x264-params", "tff=1"]
        guard let source = try clip("a.mkv", in: scratch, filter: "setfield=tff,setparams=field_mode=tff", options),
            try cropped(source, ["pixel-crop-top": "6"])
        else { return }
        let export = try Export(source, into: scratch, as: "out.mkv", Self.exact)
        #expect(export.isProved, "\(export.complaint)")
        #expect(try Probe(export.output)?.text("height") == "124")
        let wanted = try pictureHashes(source, filter: "crop=192:124:0:4:exact=1", scratch: scratch)
        #expect(try pictureHashes(export.output, scratch: scratch) == wanted)
    }

    @Test("A clean aperture is what is encoded, with the shape of its pixels, before the picture is turned")
    func cleanAperture() throws {
        let scratch = try ScratchFolder()
        guard let plain = try clip("plain.mov", in: scratch, filter: "setsar=16/11") else { return }
        let box = CleanApertureBox(width: (176, 1), height: (112, 1), across: (2, 1), down: (-4, 1))
        let source = try scratch.write(try #require(box.inserted(into: try readBytes(plain))), to: "source.mov")
        let export = try Export(source, into: scratch, as: "out.mov", Self.exact)
        #expect(export.isProved, "\(export.complaint)")
        #expect(try Probe(export.output)?.text("sample_aspect_ratio") == "16:11")
        let wanted = try pictureHashes(plain, filter: "crop=176:112:10:4", scratch: scratch)
        #expect(try pictureHashes(export.output, scratch: scratch) == wanted)
        #expect(try Export.findings(source, export.output) == [])
    }

    @Test("The display size of Matroska is that of what is left")
    func shape() throws {
        let scratch = try ScratchFolder()
        guard let source = try clip("a.mkv", in: scratch),
            try cropped(
                source,
                ["pixel-crop-left": "32", "pixel-crop-right": "32", "display-width": "256", "display-height": "128"])
        else { return }
        let export = try Export(source, into: scratch, as: "out.mp4", Self.exact)
        #expect(export.isProved, "\(export.complaint)")
        let probe = try #require(try Probe(export.output))
        #expect((probe.text("width"), probe.text("sample_aspect_ratio")) == ("128", "2:1"))
        #expect(try Export.findings(source, export.output) == [])
    }

    @Test("Copied, the cropping is named as lost, --strict refuses before, and verify finds it")
    func copied() throws {
        let scratch = try ScratchFolder()
        guard let source = try clip("a.mkv", in: scratch), try cropped(source, ["pixel-crop-bottom": "8"]) else {
            return
        }
        let copy = try Export(source, into: scratch, as: "out.mp4", ["-c", "copy"])
        let holds = Container.mp4.holdsCropping
        #expect(copy.isProved, "\(copy.complaint)")
        #expect(copy.losses.contains { $0.contains("cropping") } != holds, "\(copy.losses)")
        let strict = try Export(source, into: scratch, as: "strict.mp4", ["-c", "copy", "--strict"])
        #expect((strict.exitCode == 0) == holds && FileManager.default.fileExists(atPath: strict.output) == holds)
        #expect(try Export.findings(source, copy.output) == (holds ? [] : ["cropping"]))
    }

    @Test("A cropping for pictures of another size is not guessed at")
    func otherSize() throws {
        let scratch = try ScratchFolder()
        guard let plain = try clip("plain.mov", in: scratch) else { return }
        let box = CleanApertureBox(width: (176, 1), height: (112, 1))
        var movie = try #require(box.inserted(into: try readBytes(plain)))
        // The sample entry tells a width of 200, the pictures are 192 wide.
        let entry = try #require(movie.indices.dropLast(4).last { Array(movie[$0..<$0 + 4]) == Array("avc1".utf8) })
        movie[entry + 29] = 200
        let source = try scratch.write(movie, to: "source.mov")
        let export = try Export(source, into: scratch, as: "out.mp4", Self.exact)
        #expect(export.isProved, "\(export.complaint)")
        #expect(export.warnings.contains { $0.contains("is not applied") }, "\(export.warnings)")
        #expect(try Probe(export.output)?.text("width") == "192")
    }
}
