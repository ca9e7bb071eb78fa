internal import Foundation
internal import Support
internal import Testing

/// Subtitles that are pictures, data in transport streams, MXF's many tracks, marks and chapters of every kind: what ffmpeg and
/// mkvmerge write, and what neither does, made by hand.
@Suite("Rare tracks", .serialized)
struct RareTrackTests {
    private static let picture = ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=6"]
    private static let sound = ["-f", "lavfi", "-i", "sine=d=6"]
    private static let film = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "aac"]
    /// ffmpeg shifts an input to its first time: it has to be 0.
    private static let cues = [(0.0, 0.4), (0.5, 1.5), (2.0, 3.0), (4.0, 5.0)]

    private static func ffmpeg(_ arguments: [String]) throws {
        let outcome = try Program.run("ffmpeg", ["-nostdin", "-v", "error", "-y"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    /// The film with the subtitles of a disc, in whatever form and container.
    private static func graphics(_ workplace: Workplace, _ name: String, _ codec: String, _ more: [String] = []) throws
        -> String
    {
        let discs = workplace.file("a.sup")
        try Data(PresentationGraphics.file(cues)).write(to: URL(fileURLWithPath: discs))
        let path = workplace.file(name)
        try ffmpeg(
            picture + sound + ["-i", discs, "-map", "0", "-map", "1", "-map", "2"] + film + ["-c:s", codec] + more
                + [path])
        return path
    }

    /// Copies the picture, and lets verify judge the output with the export's own report.
    private func export(
        _ source: String, _ name: String, _ workplace: Workplace, _ options: [String] = ["--video-codec", "copy"]
    ) throws -> Report {
        let account = workplace.file("report.json")
        let (report, errors) = try workplace.export(source, name, options + ["--report", account])
        let verdict = try Program.run(
            Program.weft, ["verify", source, workplace.file(name), "--report", account])
        #expect(verdict.status == 0, "\(name): \(String(decoding: verdict.output, as: UTF8.self)) \(verdict.errors)")
        return try #require(report, "\(name): \(errors)")
    }

    private func probe(_ path: String, _ track: String, _ entries: String) throws -> [String] {
        let outcome = try Program.run(
            "ffprobe",
            ["-v", "error", "-select_streams", track, "-show_entries", entries, "-of", "compact=nk=1:p=0:s=|", path])
        return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Milliseconds from the first picture on.
    private func times(_ path: String, _ track: String) throws -> [Int] {
        func read(_ track: String) throws -> [Double] {
            try probe(path, track, "packet=pts_time").compactMap { Double($0.split(separator: "|").first ?? "") }
        }
        let first = try read("v:0").min() ?? 0
        return try read(track).map { Int((($0 - first) * 1000).rounded()) }
    }

    // MARK: Subtitles that are pictures

    @Test("PGS goes from Matroska and from a transport stream to Matroska, set by set, and is named elsewhere")
    func pgs() throws {
        let workplace = try Workplace()
        let disc = try Self.graphics(workplace, "pgs.mkv", "copy")
        let stream = try Self.graphics(workplace, "pgs.m2ts", "copy")
        for (source, name) in [(disc, "a.mkv"), (stream, "b.mkv")] {
            let report = try export(source, name, workplace)
            #expect(report.losses == [])
            #expect(report.proof.tracks.last?.source_samples == 8 && report.proof.tracks.last?.output_samples == 8)
            let times = try times(workplace.file(name), "s:0")
            #expect(times == [0, 400, 500, 1500, 2000, 3000, 4000, 5000], "\(times)")
        }
        for name in ["a.mp4", "a.ts", "a.mov"] {
            let report = try export(disc, name, workplace)
            #expect(report.losses.contains { $0.contains("hdmv_pgs_subtitle") && $0.contains("Matroska holds it") })
        }
    }

    @Test("DVB subtitles keep language and mark in Matroska and in a transport stream, and are named for MP4")
    func dvb() throws {
        let workplace = try Workplace()
        let source = try Self.graphics(
            workplace, "dvb.ts", "dvbsub",
            ["-metadata:s:s:0", "language=ger", "-disposition:s:0", "hearing_impaired"])
        for name in ["a.mkv", "a.ts"] {
            let report = try export(source, name, workplace)
            #expect(report.losses == [], "\(report.losses)")
            #expect(
                try probe(
                    workplace.file(name), "s:0",
                    "stream=codec_name:stream_disposition=hearing_impaired:stream_tags=language"
                ).last == "dvb_subtitle|1|ger")
            #expect(try times(workplace.file(name), "s:0").count == times(source, "s:0").count)
        }
        #expect(try export(source, "a.mp4", workplace).losses.contains { $0.contains("dvb_subtitle") })
    }

    @Test("VobSub goes to Matroska and MP4; a cue that stays until the next one gets there, the last too")
    func vobsub() throws {
        let workplace = try Workplace()
        let source = try Self.graphics(workplace, "vob.mkv", "dvdsub")
        for name in ["a.mkv", "a.mp4"] {
            #expect(try export(source, name, workplace).losses == [])
            let times = try times(workplace.file(name), "s:0")
            #expect(times == [0, 500, 2000, 4000], "\(times)")
            let lengths = try probe(workplace.file(name), "s:0", "packet=duration_time").compactMap { Double($0) }
            #expect(lengths.allSatisfy { $0 < 6.1 })
        }
    }

    // MARK: Data in transport streams

    /// The film with one more elementary stream.
    private static func stream(_ workplace: Workplace, _ name: String, _ added: TransportStream.Elementary) throws
        -> String
    {
        let base = workplace.file("base.ts")
        if !FileManager.default.fileExists(atPath: base) { try ffmpeg(picture + sound + film + [base]) }
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: base)))
        let path = workplace.file(name)
        try Data(TransportStream.adding([added], to: bytes, seconds: 6)).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// A local set of MISB ST 0601: a time stamp and a version.
    private static func klv(_ number: UInt8) -> [UInt8] {
        [0x06, 0x0E, 0x2B, 0x34, 0x02, 0x0B, 0x01, 0x01, 0x0E, 0x01, 0x03, 0x01, 0x01, 0, 0, 0, 13, 2, 8]
            + [0, 5, 0xAF, 0, 0, 0, 0, number, 65, 1, 12]
    }

    @Test("KLV stays in a transport stream, with times or without, and what libavformat does to its times is named")
    func klv() throws {
        let workplace = try Workplace()
        for isTimed in [true, false] {
            let source = try Self.stream(
                workplace, "klv.ts",
                .init(
                    pid: 0x120, type: 6, descriptors: [5, 4] + Array("KLVA".utf8),
                    payloads: (0..<5).map { (Double($0) + 0.25, Self.klv(UInt8($0))) }, isTimed: isTimed))
            let report = try export(source, "a.ts", workplace)
            #expect(report.proof.tracks.last?.output_samples == 5, "\(report.proof.tracks)")
            #expect(report.losses.contains { $0.contains("times of the KLV") } == isTimed, "\(report.losses)")
            #expect(try probe(workplace.file("a.ts"), "d:0", "stream=codec_name").last == "klv")
            #expect(try probe(workplace.file("a.ts"), "d:0", "packet=size").filter { $0.hasPrefix("30") }.count == 5)
            #expect(try export(source, "a.mkv", workplace).losses.contains { $0.contains("klv") })
        }
    }

    @Test("timed ID3 stays whole in a transport stream, although libavformat takes its first bytes for something else")
    func id3() throws {
        let workplace = try Workplace()
        func tag(_ text: String) -> [UInt8] {
            let frame = Array("TXXX".utf8) + [0, 0, 0, UInt8(text.utf8.count + 2), 0, 0, 3, 0] + Array(text.utf8)
            return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
        }
        let source = try Self.stream(
            workplace, "id3.ts",
            .init(
                pid: 0x121, type: 0x15,
                descriptors: [0x26, 13, 0xFF, 0xFF] + Array("ID3 ".utf8) + [0xFF] + Array("ID3 ".utf8) + [0, 0x0F],
                payloads: (0..<5).map { (Double($0) + 0.5, tag("hello \($0)")) }))
        #expect(try export(source, "a.ts", workplace).losses == [])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: workplace.file("a.ts")))
        for number in 0..<5 { #expect(bytes.range(of: Data(tag("hello \(number)"))) != nil) }
        #expect(try times(workplace.file("a.ts"), "d:0") == times(source, "d:0"))
        #expect(try export(source, "a.mp4", workplace).losses.contains { $0.contains("timed_id3") })
    }

    @Test("teletext stays in a transport stream and is named elsewhere")
    func teletext() throws {
        let workplace = try Workplace()
        let line: [UInt8] = [0x10, 2, 0x2C, 0xE7, 0xE4] + [UInt8](repeating: 0x55, count: 42)
        let source = try Self.stream(
            workplace, "teletext.ts",
            .init(
                pid: 0x122, type: 6, descriptors: [0x56, 5] + Array("eng".utf8) + [0x10, 0x88],
                payloads: (0..<5).map { (Double($0) + 0.5, line) }))
        let report = try export(source, "a.ts", workplace)
        #expect(report.losses == [] && report.proof.tracks.last?.output_samples == 5)
        #expect(
            try probe(workplace.file("a.ts"), "s:0", "stream=codec_name:stream_tags=language").last
                == "dvb_teletext|eng")
        for name in ["a.mkv", "a.mp4"] {
            #expect(try export(source, name, workplace).losses.contains { $0.contains("dvb_teletext") })
        }
    }

    // MARK: MXF

    @Test("MXF with MPEG-2 in 4:2:2, three mono tracks and a time code arrives; who wrote it is no news")
    func mxf() throws {
        let workplace = try Workplace()
        let source = workplace.file("a.mxf")
        let sounds = ["500", "700", "900"].flatMap { ["-f", "lavfi", "-i", "sine=f=\($0):d=6"] }
        try Self.ffmpeg(
            Self.picture + sounds + ["-map", "0", "-map", "1", "-map", "2", "-map", "3"]
                + ["-c:v", "mpeg2video", "-b:v", "5M", "-g", "12", "-bf", "2", "-pix_fmt", "yuv422p"]
                + ["-c:a", "pcm_s16le", "-ar", "48000", "-ac", "1", "-timecode", "10:00:00:00", source])
        for name in ["a.mkv", "a.mov", "a.mp4"] {
            let report = try export(source, name, workplace, ["--encoder-option", "preset=ultrafast"])
            #expect(report.losses == [], "\(report.losses)")
            #expect(report.carried.filter { $0.kind == "audio" }.count == 3)
            #expect(report.carried.contains { $0.kind == "timecode" })
            let channels = try probe(workplace.file(name), "a", "stream=channels")
            #expect(channels == ["1", "1", "1"])
        }
        #expect(try probe(workplace.file("a.mov"), "v:0", "stream_tags=timecode") == ["10:00:00:00"])
    }

    // MARK: Marks, chapters, Dolby Vision

    @Test(
        "subtitles of mkvmerge in several languages keep languages and marks in Matroska and MP4; QuickTime names the marks"
    )
    func marks() throws {
        guard (try? Program.run("mkvmerge", ["--version"]))?.status == 0 else {
            print("skipped: no mkvmerge")
            return
        }
        let workplace = try Workplace()
        let text = workplace.file("a.srt")
        try "1\n00:00:00,500 --> 00:00:01,500\nHello\n\n".write(toFile: text, atomically: true, encoding: .utf8)
        try Self.ffmpeg(Self.picture + Self.sound + Self.film + [workplace.file("base.mp4")])
        let source = workplace.file("marks.mkv")
        let made = try Program.run(
            "mkvmerge",
            ["-q", "-o", source, workplace.file("base.mp4")]
                + ["--language", "0:eng", "--forced-display-flag", "0:1", "--default-track-flag", "0:0", text]
                + ["--language", "0:eng", "--hearing-impaired-flag", "0:1", "--default-track-flag", "0:0", text]
                + ["--language", "0:ger", "--commentary-flag", "0:1", "--default-track-flag", "0:0", text])
        try #require(made.status == 0, "\(made.errors)")
        let entries =
            "stream_disposition=forced,hearing_impaired,comment:stream_tags=language"
        for name in ["a.mkv", "a.mp4"] {
            #expect(try export(source, name, workplace).losses == [])
            // In ffprobe's order: comment, forced, hearing impaired.
            #expect(
                try probe(workplace.file(name), "s", entries) == ["0|1|0|eng", "0|0|1|eng", "1|0|0|ger"])
        }
        let losses = try export(source, "a.mov", workplace).losses
        for name in ["forced", "hearing impaired", "commentary"] {
            #expect(losses.contains { $0.contains("“\(name)”") }, "\(losses)")
        }
    }

    @Test("chapters of QuickTime, of Nero and of Matroska all arrive in all three", arguments: ["tref", "chpl", "mkv"])
    func chapters(_ kind: String) throws {
        let workplace = try Workplace()
        let list = workplace.file("chapters.txt")
        try
            ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\ntitle=One\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=6000\ntitle=Two\n"
            .write(toFile: list, atomically: true, encoding: .utf8)
        var source = workplace.file("film.mp4")
        if kind == "mkv" { source = workplace.file("film.mkv") }
        try Self.ffmpeg(
            Self.picture + Self.sound + ["-i", list, "-map", "0", "-map", "1", "-map_chapters", "2"] + Self.film + [
                source
            ])
        if kind != "mkv" {
            // ffmpeg writes QuickTime's and Nero's; one of them is hidden.
            var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
            let place = try #require(bytes.range(of: Data(kind.utf8)))
            bytes.replaceSubrange(place, with: Data("free".utf8))
            try bytes.write(to: URL(fileURLWithPath: source))
        }
        for name in ["a.mp4", "a.mov", "a.mkv"] {
            let report = try export(source, name, workplace)
            #expect(report.carried.contains { $0.description == "chapters ×2: , copied" }, "\(report.carried)")
            #expect(report.proof.tracks.map(\.kind) == ["audio"])
            let outcome = try Program.run(
                "ffprobe", ["-v", "error", "-show_chapters", "-of", "compact=nk=1:p=0", workplace.file(name)])
            let found = String(decoding: outcome.output, as: UTF8.self)
            #expect(found.contains("One") && found.contains("Two"), "\(name): \(found)")
        }
    }

    @Test("a movie's own time code goes before the one inside its pictures")
    func timecodes() throws {
        let workplace = try Workplace()
        let source = workplace.file("two.mov")
        // MPEG-2 writes it into its group headers, too: there from another hour on.
        try Self.ffmpeg(
            Self.picture + ["-c:v", "mpeg2video", "-g", "12", "-b:v", "3M", "-gop_timecode", "05:00:00:00"]
                + ["-timecode", "10:00:00:00", source])
        _ = try export(source, "a.mov", workplace, ["--encoder-option", "preset=ultrafast"])
        #expect(try probe(workplace.file("a.mov"), "v:0", "stream_tags=timecode") == ["10:00:00:00"])
    }

    @Test("Dolby Vision without a configuration record stops the export before it begins, and says why")
    func recordless() throws {
        guard let source = RealMedia.path("dovi_tool--regular.mkv") else { return }
        let workplace = try Workplace()
        let stream = workplace.file("dv.ts")
        try Self.ffmpeg(["-i", source, "-c", "copy", "-bsf:v", "hevc_mp4toannexb", stream])
        let options = ["--video-codec", "hevc", "--encoder-option", "preset=ultrafast", "--end", "1"]
        let (refused, words) = try workplace.export(stream, "a.mp4", options)
        #expect(
            refused == nil && words.contains("exit 64") && words.contains("without a configuration record"), "\(words)")
        let (report, errors) = try workplace.export(stream, "a.mp4", options + ["--allow-loss", "dolby-vision"])
        #expect(try #require(report, "\(errors)").losses.contains { $0.contains("Dolby Vision") })
    }
}
