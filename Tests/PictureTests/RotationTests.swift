import Foundation
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

    /// Display matrices in 16.16 and, in the last column, 2.30 (ISO/IEC 14496-12 §8.3.2).
    private static let one: Int32 = 65_536
    static let matrices: [(name: String, matrix: [Int32])] = [
        ("mirroring", [-one, 0, 0, 0, one, 0, 192 * one, 0, 1 << 30]),
        ("mirroring", [one, 0, 0, 0, -one, 0, 0, 128 * one, 1 << 30]),
        ("rotation by 90 degrees", [0, one, 0, -one, 0, 0, 128 * one, 0, 1 << 30]),
        ("rotation by 180 degrees", [-one, 0, 0, 0, -one, 0, 192 * one, 128 * one, 1 << 30]),
        ("mirroring with a rotation by 270 degrees", [0, one, 0, one, 0, 0, 0, 0, 1 << 30]),
    ]

    @Test("Every turn and mirroring is carried into MP4, and named where Matroska holds none", arguments: matrices)
    func everyTurn(_ turn: (name: String, matrix: [Int32])) throws {
        let scratch = try ScratchFolder()
        let source = scratch.file("turned.mp4")
        let clip = [
            "-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=1", "-c:v", "libx264", "-preset", "ultrafast", source,
        ]
        guard try FFmpegProgram.run(clip) else { return }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
        // Version 0: behind the box's name 40 bytes come before the matrix (§8.3.2).
        let header = try #require(bytes.range(of: Data("tkhd".utf8))?.lowerBound)
        for (index, value) in turn.matrix.enumerated() {
            let place = header + 44 + 4 * index
            let word = withUnsafeBytes(of: value.bigEndian) { Data($0) }
            bytes.replaceSubrange(place..<(place + 4), with: word)
        }
        try bytes.write(to: URL(fileURLWithPath: source))
        let options = ["--encoder-option", "preset=ultrafast"]
        let movie = try Export(source, into: scratch, as: "out.mp4", options)
        #expect(movie.isProved && movie.losses.isEmpty, "\(movie.complaint) \(movie.losses)")
        let before = try Probe(source)?.trackSideData["Display Matrix"]?["displaymatrix"] as? String
        let after = try Probe(movie.output)?.trackSideData["Display Matrix"]?["displaymatrix"] as? String
        #expect(before == after)
        let matroska = try Export(source, into: scratch, as: "out.mkv", options)
        #expect(matroska.losses.contains { $0.hasPrefix("The \(turn.name) is not carried") }, "\(matroska.losses)")
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
