import Foundation
import Support
import Testing

/// What a picture is made of: bits, chroma, the part that is shown, the shape of a pixel.
@Suite struct PixelTests {
    struct Route: CustomTestStringConvertible, Sendable {
        var source: String
        var pixels: String
        var size = "192x128"
        var target: String
        var options: [String]
        /// Pixel format of the output.
        var result: String
        /// Said of a conversion.
        var words: [String] = []
        var testDescription: String { "\(pixels) \(size) → \(options.joined(separator: " "))" }
    }

    private static let x264 = ["-c", "h264", "-o", "preset=ultrafast"]
    private static let x265 = ["-c", "hevc", "-o", "preset=ultrafast"]
    private static let svt = ["-c", "av1", "-e", "libsvtav1", "-o", "preset=12"]
    static let routes = [
        Route(source: "ffv1", pixels: "yuv422p10le", target: "mp4", options: x264, result: "yuv422p10le"),
        Route(source: "ffv1", pixels: "yuv444p", target: "mp4", options: x264, result: "yuv444p"),
        Route(source: "ffv1", pixels: "yuv444p12le", target: "mp4", options: x265, result: "yuv444p12le"),
        Route(
            source: "ffv1", pixels: "yuv444p12le", target: "mp4", options: x264, result: "yuv444p10le",
            words: ["12 bits become 10"]),
        Route(
            source: "ffv1", pixels: "yuv422p12le", target: "mkv", options: svt, result: "yuv420p10le",
            words: ["12 bits become 10", "4:2:2 chroma becomes 4:2:0"]),
        Route(
            source: "ffv1", pixels: "gbrp", target: "mp4", options: x264, result: "yuv444p",
            words: ["RGB pictures become YUV with the BT.709 matrix"]),
        Route(
            source: "libvpx", pixels: "yuv420p", size: "191x127", target: "mp4", options: x264, result: "yuv444p",
            words: ["4:2:0 chroma becomes 4:4:4"]),
        Route(
            source: "ffv1", pixels: "yuv422p10le", size: "191x127", target: "mp4", options: x265, result: "yuv444p10le",
            words: ["4:2:2 chroma becomes 4:4:4"]),
        Route(
            source: "ffv1", pixels: "yuv420p", size: "191x127", target: "webm", options: ["-c", "vp9"],
            result: "yuv420p"),
        Route(
            source: "ffv1", pixels: "yuva420p", target: "mp4", options: x264, result: "yuv420p",
            words: ["alpha channel is left out"]),
    ]

    @Test(
        "Bits and chroma are kept where the encoder has them, else converted to what is nearest, which is told",
        arguments: routes)
    func pixels(_ route: Route) throws {
        let scratch = try ScratchFolder()
        let source = scratch.file("source.mkv")
        let clip = [
            "-f", "lavfi", "-i", "testsrc=s=\(route.size):r=25:d=1", "-pix_fmt", route.pixels, "-c:v", route.source,
            source,
        ]
        guard try FFmpegProgram.run(clip) else { return }
        let export = try Export(source, into: scratch, as: "out." + route.target, route.options)
        #expect(export.isProved, "\(export.complaint)")
        #expect(try Probe(export.output)?.text("pix_fmt") ?? route.result == route.result)
        for word in route.words { #expect(export.warnings.contains { $0.contains(word) }, "\(export.warnings)") }
    }

    @Test(
        "What only the container says of the shape of pixels travels with a copied picture", arguments: ["mp4", "mkv"])
    func copiedShape(container: String) throws {
        let scratch = try ScratchFolder()
        let (plain, source) = (scratch.file("plain.mp4"), scratch.file("source.mkv"))
        let clip = [
            "-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=1", "-c:v", "libx264", "-preset", "ultrafast", plain,
        ]
        guard try FFmpegProgram.run(clip), try FFmpegProgram.run(["-i", plain, "-c", "copy", "-aspect", "2:1", source])
        else { return }
        let export = try Export(source, into: scratch, as: "out.\(container)", ["-c", "copy"])
        #expect(export.isProved, "\(export.complaint)")
        #expect(try Probe(export.output)?.text("sample_aspect_ratio") ?? "4:3" == "4:3")
        #expect(try Export.findings(source, export.output) == [])
    }

    @Test("What the stream hides on the left and above is cut off to the last column")
    func croppedInside() throws {
        let scratch = try ScratchFolder()
        let source = scratch.file("source.mkv")
        let clip = [
            "-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=1", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset",
            "ultrafast", "-bsf:v", "h264_metadata=crop_left=6:crop_top=2", source,
        ]
        guard try FFmpegProgram.run(clip) else { return }
        let export = try Export(source, into: scratch, as: "out.mp4", Self.x264)
        #expect(export.isProved, "\(export.complaint)")
        #expect(try Probe(export.output)?.text("width") ?? "186" == "186")
        #expect(try Export.findings(source, export.output) == [])
    }

    @Test(
        "RGB that became YUV passes verify, with the matrix and range of the conversion; YUV whose range changes does not"
    )
    func convertedRGB() throws {
        let scratch = try ScratchFolder()
        let source = scratch.file("source.mkv")
        let clip = [
            "-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=1", "-pix_fmt", "gbrp", "-c:v", "libx264rgb", "-crf", "1",
            source,
        ]
        guard try FFmpegProgram.run(clip) else { return }
        let export = try Export(source, into: scratch, as: "out.mp4", Self.x264)
        #expect(export.isProved, "\(export.complaint)")
        #expect(try Export.findings(source, export.output) == [])
        let flipped = scratch.file("flipped.mp4")
        let flip = ["-i", export.output, "-c", "copy", "-bsf:v", "h264_metadata=video_full_range_flag=1", flipped]
        guard try FFmpegProgram.run(flip) else { return }
        #expect(try Export.findings(export.output, flipped).contains("colour"))
    }

    @Test(
        "A change of bit depth or chroma on the way is brought to what the first pictures have, and told; --strict refuses it"
    )
    func changes() throws {
        let scratch = try ScratchFolder()
        for (number, pixels) in ["yuv420p", "yuv420p10le"].enumerated() {
            let clip = [
                "-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=2", "-pix_fmt", pixels, "-c:v", "libx265", "-preset",
                "ultrafast", "-x265-params", "log-level=none", "-output_ts_offset", "\(number * 3)",
                scratch.file("\(number).ts"),
            ]
            guard try FFmpegProgram.run(clip) else { return }
        }
        let source = scratch.file("both.ts")
        let parts = try ["0.ts", "1.ts"].map { try Data(contentsOf: URL(fileURLWithPath: scratch.file($0))) }
        try (parts[0] + parts[1]).write(to: URL(fileURLWithPath: source))
        let options = Self.x264 + ["--segment-duration", "2"]
        let export = try Export(source, into: scratch, as: "out.mp4", options)
        #expect(export.isProved, "\(export.complaint)")
        #expect(export.warnings.contains { $0.contains("picture format changes") }, "\(export.warnings)")
        #expect(try Probe(export.output)?.text("pix_fmt") ?? "yuv420p" == "yuv420p")
        let strict = try Export(source, into: scratch, as: "strict.mp4", options + ["--strict"])
        #expect(strict.exitCode != 0 && !FileManager.default.fileExists(atPath: strict.output), "\(strict.complaint)")
    }

    @Test("The place of chroma, what H.264 crops away, and the shape of pixels arrive", arguments: ["mp4", "mkv"])
    func shape(container: String) throws {
        let scratch = try ScratchFolder()
        let source = scratch.file("source.mp4")
        let clip = [
            "-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=1,setsar=16/11", "-pix_fmt", "yuv420p", "-c:v", "libx264",
            "-preset",
            "ultrafast", "-x264-params", "chromaloc=2", "-bsf:v",
            "h264_metadata=crop_left=16:crop_right=8:crop_top=6:crop_bottom=2", source,
        ]
        guard try FFmpegProgram.run(clip) else { return }
        let export = try Export(
            source, into: scratch, as: "out.\(container)", ["-c", "h264", "-o", "qp=0", "-o", "preset=ultrafast"])
        #expect(export.isProved, "\(export.complaint)")
        guard let probe = try Probe(export.output) else { return }
        #expect(probe.text("chroma_location") == "topleft")
        #expect(probe.text("sample_aspect_ratio") == "16:11")
        let before = try pictureHashes(source, scratch: scratch),
            after = try pictureHashes(export.output, scratch: scratch)
        #expect(before == after)
    }
}
