internal import Foundation
internal import Support
internal import Testing

/// Transport streams joined of pieces with clocks of their own: what was in step in a piece is in step in the output.
@Suite("Joined transport streams")
struct ProgramClockFileTests {
    private struct Packets {
        var picture: [Double] = []
        var sound: [Double] = []

        private struct Answer: Decodable {
            struct Packet: Decodable {
                var codec_type: String
                var pts_time: String?
            }
            var packets: [Packet]
        }

        init(_ path: String) throws {
            let outcome = try Program.run(
                "ffprobe", ["-v", "error", "-show_entries", "packet=codec_type,pts_time", "-of", "json", path])
            for packet in try JSONDecoder().decode(Answer.self, from: outcome.output).packets {
                guard let time = packet.pts_time.flatMap(Double.init) else { continue }
                if packet.codec_type == "video" { picture.append(time) } else { sound.append(time) }
            }
            picture.sort()
        }
    }

    /// Pieces of five seconds: one whose clock wraps inside, one that begins anew, one whose sound begins late, one far ahead.
    private func pieces(_ folder: ScratchFolder) throws -> [String]? {
        let base = folder.file("base.mp4")
        guard
            try FFmpegProgram.run([
                "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=5", "-f", "lavfi", "-i", "anoisesrc=d=5:a=0.2:seed=1",
                "-c:v", "libx264", "-g", "50", "-bf", "2", "-preset", "ultrafast", "-c:a", "aac", base,
            ])
        else { return nil }
        let kinds: [(offset: String, late: String)] = [("95441", "0"), ("20", "0"), ("5000", "0.3"), ("40000", "0")]
        return try kinds.enumerated().map { number, kind in
            let path = folder.file("\(number).ts")
            _ = try FFmpegProgram.run([
                "-i", base, "-itsoffset", kind.late, "-i", base, "-map", "0:v", "-map", "1:a", "-c", "copy",
                "-output_ts_offset", kind.offset, path,
            ])
            return path
        }
    }

    @Test(
        "Picture and sound keep their distance in every piece",
        arguments: [
            ("mp4", ["--video-codec", "copy"]), ("ts", ["--video-codec", "copy"]),
            ("mkv", ["--encoder-option", "preset=ultrafast", "--segment-duration", "2"]),
        ])
    func distance(_ name: String, _ options: [String]) throws {
        let folder = try ScratchFolder()
        let workplace = try Workplace()
        guard let pieces = try pieces(folder) else { return }
        let joined = folder.file("joined.ts")
        try pieces.reduce(into: Data()) { $0 += try Data(contentsOf: URL(fileURLWithPath: $1)) }
            .write(to: URL(fileURLWithPath: joined))
        let (report, errors) = try workplace.export(joined, "out.\(name)", options + ["--audio", "copy"])
        #expect(try #require(report, "\(errors)").proof.pass)
        #expect(report?.warnings.contains { $0.contains("jumps 3 times") } == true)

        let output = try Packets(workplace.file("out.\(name)"))
        var (pictures, sounds) = (0, 0)
        for piece in pieces {
            let source = try Packets(piece)
            let wanted = source.sound[0] - source.picture[0]
            let found = output.sound[sounds] - output.picture[pictures]
            // A tick of Matroska, and what rounding 90 kHz to samples leaves.
            #expect(abs(wanted - found) < 0.0021, "piece \(piece): \(found) instead of \(wanted)")
            pictures += source.picture.count
            sounds += source.sound.count
        }
        #expect(output.picture.count == pictures && output.sound.count == sounds)
        #expect(zip(output.picture, output.picture.dropFirst()).allSatisfy { $0.1 - $0.0 > 0.038 })
    }

    @Test(
        "An honest pause of the picture while sound runs on stays one, and so does a gap of both in a transport stream")
    func pause() throws {
        let folder = try ScratchFolder()
        let workplace = try Workplace()
        let (gap, pause) = (folder.file("gap.mp4"), folder.file("pause.ts"))
        // Both stop after 2 s and go on 14 s later.
        guard
            try FFmpegProgram.run([
                "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=20", "-f", "lavfi", "-i", "anoisesrc=d=20:a=0.2:seed=1",
                "-vf", "select='lt(t,2)+gt(t,16)'", "-af", "aselect='lt(t,2)+gt(t,16)'", "-fps_mode", "passthrough",
                "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", gap,
            ]),
            try FFmpegProgram.run([
                "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=20", "-f", "lavfi", "-i", "anoisesrc=d=20:a=0.2:seed=1",
                "-vf", "select='lt(t,2)+gt(t,16)'", "-fps_mode", "passthrough", "-c:v", "libx264", "-preset",
                "ultrafast",
                "-c:a", "aac", pause,
            ])
        else { return }
        for (source, name) in [(gap, "gap.ts"), (pause, "pause.mp4")] {
            let (report, errors) = try workplace.export(source, name, ["--video-codec", "copy", "--audio", "copy"])
            #expect(try #require(report, "\(errors)").proof.pass)
            let (before, after) = (try Packets(source), try Packets(workplace.file(name)))
            func longest(_ times: [Double]) -> Double { zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0 }
            #expect(longest(after.picture) > 13.5)
            #expect(abs(longest(before.picture) - longest(after.picture)) < 0.001)
            #expect(abs((before.sound[0] - before.picture[0]) - (after.sound[0] - after.picture[0])) < 0.001)
        }
    }
}
