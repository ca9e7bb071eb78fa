internal import Foundation
internal import Support
internal import Testing

/// Sources whose containers tell times badly or not at all.
@Suite("Awkward time lines")
struct TimelineFileTests {
    struct Kind: CustomTestStringConvertible, Sendable {
        var name: String
        var encoding: [String]
        var sound: [String] = []
        var testDescription: String { name }
    }

    private static let x264 = ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "3", "-g", "50"]

    static let kinds = [
        Kind(
            name: "B-frames.avi", encoding: ["-c:v", "mpeg4", "-bf", "2", "-g", "50", "-q:v", "4"],
            sound: ["-c:a", "mp3"]),
        Kind(
            name: "H.264 with B-frames.avi", encoding: x264 + ["-bsf:v", "h264_mp4toannexb"], sound: ["-c:a", "mp3"]),
        Kind(
            name: "program stream.mpg", encoding: ["-c:v", "mpeg2video", "-bf", "2", "-g", "50", "-q:v", "4"],
            sound: ["-c:a", "mp2"]),
        Kind(name: "raw.m2v", encoding: ["-c:v", "mpeg2video", "-bf", "2", "-g", "50", "-q:v", "4"]),
        Kind(name: "raw.h264", encoding: x264),
        Kind(
            name: "raw.hevc",
            encoding: [
                "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:keyint=50:bframes=3",
            ]
        ),
    ]

    @Test("Where no presentation times are stored, every picture is there once, evenly spaced", arguments: kinds)
    func missingTimes(_ kind: Kind) throws {
        let workplace = try Workplace()
        let source = workplace.file(kind.name)
        guard
            try FFmpegProgram.run(
                ["-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=6"]
                    + (kind.sound.isEmpty ? [] : ["-f", "lavfi", "-i", "sine=r=48000:d=6"]) + kind.encoding + kind.sound
                    + [source])
        else { return }
        let (report, errors) = try workplace.export(
            source, "out.mp4", ["--encoder-option", "preset=ultrafast", "--segment-duration", "2"])
        #expect(try #require(report, "\(errors)").proof.pass)
        let times = try Judge(path: workplace.file("out.mp4")).storedPictures().times.times
        #expect(times.count == 150)
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.04) < 0.0006 })
    }

    @Test("Decode times that repeat or go back do not lose a picture", arguments: ["mkv", "mp4"])
    func badDecodeTimes(target: String) throws {
        let workplace = try Workplace()
        let (whole, source) = (workplace.file("whole.ts"), workplace.file("source.ts"))
        guard
            try FFmpegProgram.run(
                ["-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=6"] + Self.x264 + ["-muxdelay", "0", whole])
        else { return }
        // The PES header's DTS of every fifth picture becomes that of the one before, of every seventh that of two before.
        try PacketTimes.spoilDecodeTimes(of: whole, into: source)
        let (report, errors) = try workplace.export(
            source, "out.\(target)", ["--encoder-option", "preset=ultrafast", "--segment-duration", "2"])
        #expect(try #require(report, "\(errors)").proof.pass)
        let times = try Judge(path: workplace.file("out.\(target)")).storedPictures().times.times
        #expect(times.count == 150)
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.04) < 0.0011 })
    }

    @Test(
        "A picture with the time of another comes where the decoder shows it, and none is lost",
        arguments: ["mkv", "mp4"])
    func wrongPresentationTime(target: String) throws {
        let workplace = try Workplace()
        let (whole, source) = (workplace.file("whole.ts"), workplace.file("source.ts"))
        guard
            try FFmpegProgram.run(
                ["-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=6"] + Self.x264 + ["-muxdelay", "0", whole])
        else { return }
        // As at the seams of WebKit's start-offset.ts: a B picture has the time of the P picture that is shown two places later.
        try PacketTimes.spoilPresentationTime(of: whole, into: source)
        let (report, errors) = try workplace.export(
            source, "out.\(target)", ["-o", "preset=ultrafast", "-o", "qp=0", "--segment-duration", "2"])
        #expect(try #require(report, "\(errors)").proof.pass)
        let output = Judge(path: workplace.file("out.\(target)"))
        let times = try output.storedPictures().times.times
        #expect(times.count == 150)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 > $0 && $1 - $0 < 0.13 })
        #expect(abs(times[149] - times[0] - 149 * 0.04) < 0.002)
        #expect(try output.pictureHashes() == Judge(path: whole).pictureHashes())
    }

    @Test(
        "What an edit list hides at the end although others refer to it is hidden again in a copied movie, and elsewhere shown and told",
        arguments: ["mp4", "mov", "mkv"])
    func hiddenEnd(target: String) throws {
        let workplace = try Workplace()
        let source = workplace.file("source.mp4")
        guard
            try FFmpegProgram.run(["-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=2"] + Self.x264 + [source])
        else { return }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
        // ISO/IEC 14496-12 §8.6.6: version and flags, the number of entries, then the first one's duration in milliseconds.
        let place = try #require(bytes.range(of: Data("elst".utf8))).upperBound + 8
        bytes.replaceSubrange(place..<(place + 4), with: [0, 0, UInt8(1900 >> 8), UInt8(1900 & 0xFF)])
        try bytes.write(to: URL(fileURLWithPath: source))
        #expect(try Judge(path: source).shownPictures().times.count == 48)
        let (report, errors) = try workplace.export(source, "out.\(target)", ["--video-codec", "copy"])
        let done = try #require(report, "\(errors)")
        #expect(done.proof.pass)
        let shown = try Judge(path: workplace.file("out.\(target)")).shownPictures().times.count
        let isTold = done.losses.contains { $0.contains("edit list hides") }
        #expect(target == "mkv" ? shown == 50 && isTold : shown == 48 && !isTold, "\(shown) \(done.losses)")
    }

    @Test("A program stream without a single time stamp is shown from end to end")
    func timelessProgramStream() throws {
        let workplace = try Workplace()
        let (whole, source) = (workplace.file("whole.vob"), workplace.file("source.vob"))
        guard
            try FFmpegProgram.run([
                "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=6", "-c:v", "mpeg2video", "-bf", "0", "-g", "25", "-q:v",
                "4",
                whole,
            ])
        else { return }
        try PacketTimes.removeTimes(of: whole, into: source)
        let (report, errors) = try workplace.export(
            source, "out.mp4", ["--encoder-option", "preset=ultrafast", "--segment-duration", "2"])
        #expect(try #require(report, "\(errors)").proof.pass)
        let times = try Judge(path: workplace.file("out.mp4")).storedPictures().times.times
        #expect(times.count == 150)
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.04) < 0.0006 })
    }

    struct Sound: CustomTestStringConvertible, Sendable {
        var name: String
        /// Seconds at which sound begins and how long it lasts; the picture is at 0 to 6.
        var start: String
        var length: String
        var testDescription: String { name }
    }

    @Test(
        "Sound that begins or ends before or after the picture keeps its place in every container",
        arguments: [
            Sound(name: "begins late, ends early", start: "1.3", length: "3"),
            Sound(name: "begins early, ends late", start: "-0.7", length: "8"),
        ], ["mp4", "mkv", "ts", "mov"])
    func soundAside(_ sound: Sound, _ target: String) throws {
        let workplace = try Workplace()
        let source = workplace.file("source.mkv")
        guard
            try FFmpegProgram.run(
                [
                    "-itsoffset", "2", "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=6", "-itsoffset",
                    "\(2 + (Double(sound.start) ?? 0))", "-f", "lavfi", "-i", "sine=r=48000:d=\(sound.length)",
                ] + Self.x264 + ["-c:a", "flac", source])
        else { return }
        let codec = ["ts": "aac", "mov": "aac", "mkv": "opus"][target] ?? "flac"
        let (report, errors) = try workplace.export(
            source, "out.\(target)", ["--video-codec", "copy", "--audio", codec])
        #expect(try #require(report, "\(errors)").proof.pass)
        let output = Judge(path: workplace.file("out.\(target)"))
        let heard = try #require(try output.sound())
        let picture = try #require(try output.storedPictures().times.times.first)
        // A transport stream does not tell priming.
        let priming = target == "ts" ? 0.0214 : 0.0011
        #expect(abs(heard.start - picture - (Double(sound.start) ?? 0)) < priming)
        let length = Double(heard.count) / Double(heard.rate)
        #expect(length > (Double(sound.length) ?? 0) - 0.001 && length < (Double(sound.length) ?? 0) + 0.05)
    }
}

/// Times in the packets of a transport stream with one elementary stream (ISO/IEC 13818-1 §2.4.3.7).
private enum PacketTimes {
    static func spoilDecodeTimes(of source: String, into target: String) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
        var history: [[UInt8]] = []
        for packet in stride(from: 0, to: bytes.count - 187, by: 188)
        where bytes[packet] == 0x47 && bytes[packet + 1] & 0x40 != 0 {
            let hasAdaptation = bytes[packet + 3] & 0x20 != 0
            let start = packet + 4 + (hasAdaptation ? 1 + Int(bytes[packet + 4]) : 0)
            guard start + 19 <= packet + 188, bytes[start..<(start + 3)] == [0, 0, 1], bytes[start + 3] & 0xF0 == 0xE0,
                bytes[start + 7] & 0xC0 == 0xC0
            else { continue }
            let place = start + 14..<start + 19
            let own = Array(bytes[place])
            let back = history.count % 7 == 6 ? 2 : history.count % 5 == 4 ? 1 : 0
            if back > 0, history.count >= back { bytes.replaceSubrange(place, with: history[history.count - back]) }
            history.append(own)
        }
        try Data(bytes).write(to: URL(fileURLWithPath: target))
    }

    /// The first B picture behind the middle gets the time of the P picture that was decoded before it.
    static func spoilPresentationTime(of source: String, into target: String) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
        var last: [UInt8]?
        for packet in stride(from: bytes.count / 376 * 188, to: bytes.count - 187, by: 188)
        where bytes[packet] == 0x47 && bytes[packet + 1] & 0x40 != 0 {
            let hasAdaptation = bytes[packet + 3] & 0x20 != 0
            let start = packet + 4 + (hasAdaptation ? 1 + Int(bytes[packet + 4]) : 0)
            guard start + 19 <= packet + 188, bytes[start..<(start + 3)] == [0, 0, 1], bytes[start + 3] & 0xF0 == 0xE0
            else { continue }
            let place = start + 9..<start + 14
            if bytes[start + 7] & 0xC0 == 0x80, let last {
                // Without a DTS of its own the first four bits are others (ISO/IEC 13818-1 §2.4.3.6).
                bytes.replaceSubrange(place, with: [last[0] & 0x0F | 0x20] + last.dropFirst())
                break
            }
            last = Array(bytes[place])
        }
        try Data(bytes).write(to: URL(fileURLWithPath: target))
    }

    /// PES headers of pictures keep their length and lose their time stamps.
    static func removeTimes(of source: String, into target: String) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
        var place = 0
        while place + 14 < bytes.count {
            if bytes[place] == 0, bytes[place + 1] == 0, bytes[place + 2] == 1, bytes[place + 3] == 0xE0,
                bytes[place + 6] & 0xC0 == 0x80, bytes[place + 7] & 0x80 != 0
            {
                let count = bytes[place + 7] & 0x40 != 0 ? 10 : 5
                bytes[place + 7] &= 0x3F
                for byte in 0..<count { bytes[place + 9 + byte] = 0xFF }
                place += 9
            }
            place += 1
        }
        try Data(bytes).write(to: URL(fileURLWithPath: target))
    }
}

extension Judge {
    /// A hash of each picture in the order of a single pass.
    fileprivate func pictureHashes() throws -> [String] {
        let outcome = try Program.run(
            "ffmpeg", ["-v", "quiet", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
        return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } }
    }
}
