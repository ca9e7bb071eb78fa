internal import Foundation
internal import Support
internal import Testing

/// Subtitles, attached files, covers, chapters, tags, time code, captions and data: what arrives, judged by ffprobe, and what is named.
@Suite("Other tracks", .serialized)
struct OtherTrackTests {
    private static let fast = ["--encoder-option", "preset=ultrafast", "--segment-duration", "2"]

    private static let cues = """
        1
        00:00:00,500 --> 00:00:01,500
        <b>Hello</b> there

        2
        00:00:01,500 --> 00:00:02,000
        second

        3
        00:00:04,001 --> 00:00:05,337
        last

        """

    /// Six seconds with two tracks of sound, two of subtitles, a font, a cover, chapters, tags and a time code.
    private static func film(_ workplace: Workplace) throws -> String {
        try cues.write(toFile: workplace.file("a.srt"), atomically: true, encoding: .utf8)
        try Data(repeating: 7, count: 3000).write(to: URL(fileURLWithPath: workplace.file("some.ttf")))
        try
            ";FFMETADATA1\ntitle=My film\ndirector=Someone\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2500\ntitle=One\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2500\nEND=6000\ntitle=Zwei äöü\n"
            .write(toFile: workplace.file("tags.txt"), atomically: true, encoding: .utf8)
        try ffmpeg(["-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v", "1", workplace.file("cover.jpg")])
        let path = workplace.file("film.mkv")
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=6", "-f", "lavfi", "-i", "sine=d=6", "-i",
                workplace.file("a.srt"), "-i", workplace.file("tags.txt"), "-map", "0", "-map", "1", "-map", "1",
                "-map",
                "2", "-map", "2", "-map_metadata", "3", "-map_chapters", "3", "-c:v", "libx264", "-preset", "ultrafast",
                "-g", "25", "-c:a", "flac", "-c:s", "srt", "-metadata:s:a:0", "language=eng", "-metadata:s:a:1",
                "language=ger", "-metadata:s:s:0", "language=eng", "-metadata:s:s:0", "title=English full",
                "-metadata:s:s:1", "language=fra", "-disposition:s:0", "0", "-disposition:s:1", "forced", "-metadata",
                "timecode=01:00:00:00", "-attach", workplace.file("some.ttf"), "-metadata:s:t:0",
                "mimetype=application/x-truetype-font", "-attach", workplace.file("cover.jpg"), "-metadata:s:t:1",
                "mimetype=image/jpeg", path,
            ])
        return path
    }

    /// What the tests look at of `weft plan --json`.
    private struct Plan: Decodable {
        struct Segment: Decodable { var index: Int }
        var segments: [Segment]
        var carried: [Report.Carried]
        var losses: [String]
    }

    private static func ffmpeg(_ arguments: [String]) throws {
        let outcome = try Program.run("ffmpeg", ["-v", "error", "-y"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    /// One line for each track, chapter or packet.
    private func probe(_ path: String, _ entries: String, _ more: [String] = []) throws -> [String] {
        let outcome = try Program.run(
            "ffprobe", ["-v", "error"] + more + ["-show_entries", entries, "-of", "compact=nk=1:p=0", path])
        return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func text(_ path: String, _ track: String) throws -> String {
        let outcome = try Program.run("ffmpeg", ["-v", "error", "-i", path, "-map", "0:\(track)", "-f", "srt", "-"])
        return String(decoding: outcome.output, as: UTF8.self).replacingOccurrences(of: "\r", with: "")
    }

    /// Without numbers and times.
    private func words(_ path: String, _ track: String) throws -> [String] {
        try text(path, track).split(separator: "\n").map(String.init).filter { !$0.contains("-->") }
    }

    /// Start and length of the first subtitles' cues in milliseconds, counted from the first picture: a container without times below
    /// zero moves all tracks together where sound begins before that.
    private func cueTimes(_ path: String) throws -> [[Int]] {
        func times(_ track: String, _ fields: String) throws -> [[Int]] {
            try probe(path, "packet=\(fields)", ["-select_streams", track]).map { line in
                line.split(separator: "|").compactMap { Double($0) }.map { Int(($0 * 1000).rounded()) }
            }
        }
        let first = try times("v:0", "pts_time").compactMap(\.first).min() ?? 0
        return try times("s:0", "pts_time,duration_time").map { [($0.first ?? 0) - first] + $0.dropFirst() }
    }

    @Test("subtitles, chapters, tags and time code go from Matroska to MP4 and back with times, texts and marks")
    func roundTrip() throws {
        let workplace = try Workplace()
        let film = try Self.film(workplace)
        let (first, errors) = try workplace.export(film, "film.mp4", Self.fast + ["--audio", "aac"])
        let report = try #require(first, "\(errors)")
        #expect(report.losses.count == 2, "\(report.losses)")
        #expect(report.losses.contains { $0.contains("some.ttf") })
        // A movie holds a cover or tags of any name, not both as libavformat writes them.
        #expect(report.losses.contains { $0.lowercased().contains("director") })
        #expect(
            report.carried.map(\.description) == [
                "video 0: h264, encoded", "audio 1: flac → aac, encoded", "audio 2: flac → aac, encoded",
                "subtitle 3: subrip → mov_text, converted", "subtitle 4: subrip → mov_text, converted",
                "cover 6: mjpeg, copied", "chapters ×2: , copied", "timecode: tag → time code track, converted",
                "tags ×1: , copied",
            ])
        #expect(report.proof.tracks.map(\.kind) == ["audio", "audio", "subtitle", "subtitle"])
        #expect(report.proof.tracks.allSatisfy { $0.pass && $0.output_samples >= 3 })
        let planned = try Program.run(
            Program.weft,
            ["plan", film, workplace.file("film.mp4"), "--json", "--audio", "aac", "--segment-duration", "2"])
        let plan = try JSONDecoder().decode(Plan.self, from: planned.output)
        #expect(plan.carried.map(\.description) == report.carried.map(\.description))
        #expect(plan.losses == report.losses && plan.segments.count == 3)
        let movie = workplace.file("film.mp4")
        let packets = try probe(movie, "packet=pts_time,duration_time,size", ["-select_streams", "s:0"])
        #expect(
            packets.map { $0.split(separator: "|").prefix(2).joined(separator: " ") } == [
                "0.000000 0.500000", "0.500000 1.000000", "1.500000 0.500000", "2.000000 2.001000", "4.001000 1.336000",
            ], "\(packets)")
        #expect(
            try probe(
                movie, "stream=codec_name:stream_tags=language,handler_name:stream_disposition=default,forced",
                ["-select_streams", "s"])
                == ["mov_text|0|0|eng|English full", "mov_text|0|1|fra|SubtitleHandler"])
        #expect(try probe(movie, "stream_tags=timecode", ["-select_streams", "v:0"]) == ["01:00:00:00"])
        #expect(
            try probe(movie, "stream=codec_name:stream_disposition=attached_pic", ["-select_streams", "v"]).contains(
                "mjpeg|1"))
        let (second, complaint) = try workplace.export(movie, "back.mkv", Self.fast)
        #expect(try #require(second, "\(complaint)").losses == [])
        let back = workplace.file("back.mkv")
        #expect(try words(back, "s:0") == words(film, "s:0"))
        #expect(try cueTimes(back) == [[500, 1000], [1500, 500], [4001, 1336]])
        #expect(
            try probe(
                back, "stream=codec_name:stream_tags=language,title:stream_disposition=default,forced",
                ["-select_streams", "s"])
                == ["subrip|0|0|eng|English full", "subrip|0|1|fra"])
        #expect(
            try probe(back, "chapter=start_time,end_time:chapter_tags=title") == [
                "0.000000|2.500000|One", "2.500000|6.000000|Zwei äöü",
            ])
        let tags = try probe(back, "format_tags")
        #expect(tags.joined().contains("My film") && tags.joined().contains("01:00:00:00"))
        #expect(try probe(back, "stream_tags=mimetype").joined().contains("image/jpeg"))
    }

    @Test("a font and a cover stay attached in Matroska, byte for byte")
    func attachments() throws {
        let workplace = try Workplace()
        let (report, errors) = try workplace.export(
            try Self.film(workplace), "copy.mkv", ["--video-codec", "copy"])
        #expect(try #require(report, "\(errors)").losses == [])
        let copy = workplace.file("copy.mkv")
        for (track, name) in [("t:0", "some.ttf"), ("v:1", "cover.jpg")] {
            let taken = workplace.file("taken")
            try? FileManager.default.removeItem(atPath: taken)
            if track.hasPrefix("t") {
                _ = try Program.run("ffmpeg", ["-v", "error", "-dump_attachment:t:0", taken, "-i", copy])
            } else {
                try Self.ffmpeg(["-i", copy, "-map", "0:\(track)", "-c", "copy", "-f", "image2", taken])
            }
            #expect(FileManager.default.contentsEqual(atPath: taken, andPath: workplace.file(name)), "\(name)")
        }
    }

    @Test("a part of the source cuts cues and chapters to it and moves the time code on")
    func part() throws {
        let workplace = try Workplace()
        let (report, errors) = try workplace.export(
            try Self.film(workplace), "part.mkv", Self.fast + ["--start", "1", "--end", "5"])
        _ = try #require(report, "\(errors)")
        let part = workplace.file("part.mkv")
        #expect(try cueTimes(part) == [[0, 500], [500, 500], [3001, 999]])
        let chapters = try probe(part, "chapter=start_time,end_time").map {
            $0.split(separator: "|").compactMap { Double($0) }
        }
        #expect(chapters.map { (($0[1] - $0[0]) * 1000).rounded() } == [1500, 2500])
        #expect(try probe(part, "format_tags=timecode").joined().contains("01:00:01:00"))
    }

    @Test("a drop-frame time code skips the numbers that it drops")
    func dropFrame() throws {
        let workplace = try Workplace()
        try Self.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=s=160x120:r=30000/1001:d=4", "-c:v", "libx264", "-preset", "ultrafast",
                "-g",
                "30", "-timecode", "00:00:58;00", workplace.file("drop.mov"),
            ])
        let (report, errors) = try workplace.export(
            workplace.file("drop.mov"), "part.mov", Self.fast + ["--start", "60060/30000"])
        _ = try #require(report, "\(errors)")
        #expect(
            try probe(workplace.file("part.mov"), "stream_tags=timecode", ["-select_streams", "v:0"]) == ["00:01:00;02"]
        )
    }

    @Test("WebM gets WebVTT, and --strict refuses a loss before anything is encoded")
    func webAndStrict() throws {
        let workplace = try Workplace()
        let film = try Self.film(workplace)
        let options = ["--encoder-option", "deadline=realtime", "--encoder-option", "cpu-used=8", "--audio", "opus"]
        let (report, errors) = try workplace.export(film, "a.webm", options)
        #expect(try #require(report, "\(errors)").losses.contains { $0.contains("cover") })
        #expect(
            try probe(workplace.file("a.webm"), "packet=pts_time,duration_time", ["-select_streams", "s:0"])
                == ["0.500000|1.000000", "1.500000|0.500000", "4.001000|1.336000"])
        let (refused, words) = try workplace.export(film, "strict.webm", options + ["--strict"])
        #expect(refused == nil && words.contains("exit 1") && words.contains("--strict"))
        let plan = try Program.run(Program.weft, ["plan", film, workplace.file("strict.webm"), "--strict"])
        #expect(plan.status == 1 && plan.errors.contains("--strict refuses a loss"))
        #expect(!FileManager.default.fileExists(atPath: workplace.file("strict.webm")))
    }

    @Test("sound is chosen by number or language, in the order asked for; what is not there is refused with a list")
    func soundChoice() throws {
        let workplace = try Workplace()
        let film = try Self.film(workplace)
        func languages(_ options: [String]) throws -> [String] {
            let (report, errors) = try workplace.export(film, "a.mkv", ["--video-codec", "copy"] + options)
            _ = try #require(report, "\(errors)")
            return try probe(workplace.file("a.mkv"), "stream_tags=language", ["-select_streams", "a"])
        }
        #expect(try languages(["--audio-map", "1,0"]) == ["ger", "eng"])
        #expect(try languages(["--audio-map", "1"]) == ["ger"])
        #expect(try languages(["--audio-language", "de"]) == ["ger"])
        let (_, words) = try workplace.export(film, "b.mkv", ["--audio-language", "jpn"])
        #expect(words.contains("exit 64") && words.contains("0: eng") && words.contains("1: ger"))
        let (_, others) = try workplace.export(film, "b.mkv", ["--audio-map", "5"])
        #expect(others.contains("exit 64") && others.contains("0: eng"))
        let (report, _) = try workplace.export(film, "b.mkv", ["--video-codec", "copy", "--subtitles", "none"])
        #expect(try #require(report).losses == [])
        #expect(try probe(workplace.file("b.mkv"), "stream=codec_name", ["-select_streams", "s"]) == [])
    }

    @Test(
        "captions inside the pictures are written again, picture by picture, or named",
        arguments: ["libx264", "libx265", "libsvtav1"])
    func captions(_ encoder: String) throws {
        guard let source = RealMedia.path("shaka-player--hls-ts-h264_0-5.ts") else { return }
        let workplace = try Workplace()
        let speed = encoder == "libsvtav1" ? "preset=12" : "preset=ultrafast"
        let (report, errors) = try workplace.export(
            source, "a.mp4", ["--encoder", encoder, "--encoder-option", speed, "--end", "2"])
        let result = try #require(report, "\(errors)")
        let count = try probe(workplace.file("a.mp4"), "frame_side_data=side_data_type", ["-select_streams", "v:0"])
            .filter { $0.contains("A53") || $0.contains("ATSC") }.count
        if encoder == "libsvtav1" {
            #expect(result.losses.contains { $0.contains("closed captions") })
        } else {
            #expect(result.losses == [] && count == 60)
        }
    }

    @Test(
        "captions that come up behind the first pictures are named as lost, too, and --strict gives the file no name",
        arguments: ["firefox-esr--640x480_seg1.ts", "firefox-esr--bipbop-lateaudio.mp4"])
    func lateCaptions(_ name: String) throws {
        guard let source = RealMedia.path(name) else { return }
        let workplace = try Workplace()
        let options = ["-c", "vp9", "-o", "deadline=realtime", "-o", "cpu-used=8", "--end", "4"]
        let (report, errors) = try workplace.export(source, "a.mkv", options)
        let result = try #require(report, "\(errors)")
        #expect(result.losses.contains { $0.contains("closed captions") }, "\(result.losses)")
        let strict = try workplace.export(source, "b.mkv", options + ["--strict"])
        #expect(strict.report == nil && strict.errors.contains("closed captions"), "\(strict.errors)")
        // Before anything is encoded: the plan refuses it already.
        let plan = try Program.run(Program.weft, ["plan", source, workplace.file("b.mkv")] + options + ["--strict"])
        #expect(plan.status != 0 && plan.errors.contains("closed captions"), "\(plan.errors)")
        #expect(!FileManager.default.fileExists(atPath: workplace.file("b.mkv")))
    }

    @Test("GoPro's data is copied to MP4 and named for Matroska; the time code follows --start")
    func data() throws {
        guard let source = RealMedia.path("gpmf-parser--karma.mp4") else { return }
        let workplace = try Workplace()
        let (report, errors) = try workplace.export(source, "a.mp4", ["--video-codec", "copy", "--start", "4"])
        #expect(try #require(report, "\(errors)").losses.allSatisfy { $0.contains("fdsc") })
        let movie = workplace.file("a.mp4")
        #expect(try probe(movie, "stream=codec_tag_string", ["-select_streams", "d"]).contains("gpmd"))
        #expect(try probe(movie, "stream_tags=timecode", ["-select_streams", "v:0"]) == ["19:26:52:04"])
        #expect(try probe(movie, "format_tags=firmware") == ["HD5.02.02.00.00"])
        let (other, _) = try workplace.export(source, "a.mkv", ["--video-codec", "copy"])
        #expect(try #require(other).losses.contains { $0.contains("gpmd") })
    }

    @Test("a language of more than three letters is named where the container gets three", arguments: ["mkv", "mp4"])
    func languageTag(container: String) throws {
        let workplace = try Workplace()
        let source = try Self.film(workplace)
        // As mkvmerge writes it: both.
        let names = ["language": "por", "language-ietf": "pt-BR"]
        guard try MatroskaProperties.set(names, track: "a1", of: source) else { return }
        let (report, errors) = try workplace.export(source, "out.\(container)", Self.fast)
        let losses = try #require(report, "\(errors)").losses
        #expect(losses.contains { $0.contains("“pt-BR” of track 1 is carried as “por”") }, "\(losses)")
        #expect(losses.filter { $0.contains("The language") }.count == 1, "\(losses)")
    }

    @Test("a second picture track and its neighbours are carried")
    func secondPicture() throws {
        guard let source = RealMedia.path("torchcodec--nasa_13013.mp4") else { return }
        let workplace = try Workplace()
        for name in ["a.mp4", "a.mkv"] {
            let (report, errors) = try workplace.export(source, name, ["--video-codec", "copy"])
            #expect(try #require(report, "\(errors)").losses == [])
            let path = workplace.file(name)
            #expect(
                try probe(path, "stream=codec_type").filter { $0 == "video" }.count == 2)
            let frames = try probe(path, "packet=pts_time", ["-select_streams", "v:1"])
            #expect(try frames.count == probe(source, "packet=pts_time", ["-select_streams", "v:1"]).count)
            #expect(try text(path, "s:1").replacingOccurrences(of: "\n", with: "").count > 20)
        }
    }

    @Test("styles that the target has not are named as a loss")
    func styles() throws {
        guard let source = RealMedia.path("media--sample_with_ass_subtitles.mkv") else { return }
        let workplace = try Workplace()
        let (report, errors) = try workplace.export(source, "a.mp4", Self.fast)
        _ = try #require(report, "\(errors)")
        #expect(
            try probe(workplace.file("a.mp4"), "stream=codec_name", ["-select_streams", "s"]) == ["mov_text"])
        let (kept, _) = try workplace.export(source, "a.mkv", Self.fast)
        #expect(try #require(kept).losses == [])
        #expect(try probe(workplace.file("a.mkv"), "stream=codec_name", ["-select_streams", "s"]) == ["ass"])
    }
}
