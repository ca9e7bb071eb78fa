internal import Foundation
internal import Testing
internal import Verification

@Suite("Verify")
struct VerifierTests {
    /// What ffmpeg is told for pictures that are encoded anew, each at its own time.
    static let encode = "-fps_mode passthrough -c:v libx264 -preset veryfast -crf 20"

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var arguments: String
        /// `nil`: it must pass.
        var finding: Finding.Kind?
        var track = 0
        var isFull = false

        var testDescription: String { name }
    }

    static let good: [Case] = [
        Case(name: "good.mp4", arguments: "-i SOURCE -map 0 \(encode) -c:a aac -c:s mov_text", isFull: true),
        Case(name: "good-opus.mkv", arguments: "-i SOURCE -map 0 \(encode) -c:a libopus -c:s srt"),
        Case(name: "good-aac.mkv", arguments: "-i SOURCE -map 0 \(encode) -c:a aac -c:s srt"),
        Case(name: "good-copy.mkv", arguments: "-i SOURCE -map 0 -c copy -c:s srt", isFull: true),
        Case(
            name: "good-small.mov", arguments: "-i SOURCE -map 0 \(encode) -s 160x90 -c:a libmp3lame -c:s mov_text",
            isFull: true),
        Case(
            name: "good-10bit.mkv", arguments: "-i SOURCE -map 0 \(encode) -pix_fmt yuv420p10le -c:a copy -c:s srt",
            isFull: true),
    ]

    @Test("a good transcode passes", arguments: good)
    func passes(good: Case) throws {
        guard let source = Clips.source else { return }
        let output = try #require(Clips.make(good.name, good.arguments))
        let report = try Verifier(source: source, output: output, full: good.isFull).report()
        #expect(report.pass, "\(report.findings)")
        #expect(!good.isFull || report.comparedPictures == 150)
    }

    static let broken: [Case] = [
        Case(
            name: "dropped.mp4", arguments: "-i SOURCE -map 0 -c copy \(encode) -vf select='not(eq(n\\,70))'",
            finding: .missing),
        Case(
            name: "doubled.mkv",
            arguments: "-i SOURCE -map 0:v -map 0:a -c copy -c:v libx264 -preset veryfast -fps_mode passthrough "
                + "-filter_complex [0:v]split[a][b];[b]select='eq(n\\,70)',setpts=PTS+0.02/TB[c];[a][c]interleave[v] "
                + "-map -0:v -map [v]", finding: .duplicated),
        Case(
            name: "sound-late.mp4",
            arguments: "-i SOURCE -itsoffset 0.02 -i SOURCE -map 0:v -map 1:a -map 0:s -c copy", finding: .soundOffset,
            track: 1),
        Case(
            name: "sound-late-encoded.mp4",
            arguments: "-i SOURCE -itsoffset 0.02 -i SOURCE -map 0:v -map 1:a -map 0:s -c copy -c:a aac",
            finding: .soundOffset, track: 1),
        Case(
            name: "sound-early.mkv",
            arguments: "-itsoffset 0.02 -i SOURCE -i SOURCE -map 0:v -map 1:a -map 0:s -c copy -c:s srt",
            finding: .soundOffset, track: 1),
        Case(
            name: "sound-short.mp4",
            arguments: "-t 5 -i SOURCE -i SOURCE -map 1:v -map 0:a -map 1:s -c copy", finding: .soundEnd, track: 1),
        Case(
            name: "swapped.mp4",
            arguments: "-i SOURCE -filter_complex [0:v]split=3[a][b][c];[a]trim=0:2,setpts=PTS-STARTPTS[x];"
                + "[b]trim=2:4,setpts=PTS-STARTPTS[y];[c]trim=4:6,setpts=PTS-STARTPTS[z];[x][z][y]concat=n=3[v] "
                + "-map [v] -map 0:a -map 0:s -c copy \(encode)", finding: .picture, isFull: true),
        Case(
            name: "one-wrong-picture.mp4",
            arguments: "-i SOURCE -map 0 -c copy \(encode) -g 25 -vf drawbox=c=white:t=fill:enable='eq(n\\,75)'",
            finding: .picture, isFull: true),
        Case(
            name: "visible-join.mp4",
            arguments: "-i SOURCE -map 0 -c copy \(encode) -g 25 -keyint_min 25 "
                + "-vf boxblur=enable='eq(n\\,75)':lr=3:lp=1", finding: .seam, isFull: true),
        Case(
            name: "no-subtitles.mp4", arguments: "-i SOURCE -map 0:v -map 0:a -c copy", finding: .missingTrack, track: 2
        ),
        Case(name: "no-sound.mp4", arguments: "-i SOURCE -map 0:v -map 0:s -c copy", finding: .missingTrack, track: 1),
        Case(
            name: "cut-subtitle.mp4", arguments: "-t 1.5 -i SOURCE -i SOURCE -map 1:v -map 1:a -map 0:s -c copy",
            finding: .missing, track: 2),
        Case(
            name: "full-range.mp4", arguments: "-i SOURCE -map 0 -c copy -bsf:v h264_metadata=video_full_range_flag=1",
            finding: .colour),
        Case(
            name: "french.mp4", arguments: "-i SOURCE -map 0 -c copy -metadata:s:a:0 language=fra", finding: .language,
            track: 1),
        Case(name: "untitled.mp4", arguments: "-i SOURCE -map 0 -c copy -metadata title=", finding: .tags, track: -1),
        Case(
            name: "wide-pixels.mp4", arguments: "-i SOURCE -map 0 -c copy -aspect 4:3", finding: .aspect),
    ]

    @Test("an output that is broken in one way is caught, and the fault named", arguments: broken)
    func catches(broken: Case) throws {
        guard let source = Clips.source else { return }
        let output = try #require(Clips.make(broken.name, broken.arguments))
        let report = try Verifier(source: source, output: output, full: broken.isFull).report()
        #expect(!report.pass)
        #expect(
            report.findings.contains { $0.kind == broken.finding && $0.track == broken.track }, "\(report.findings)")
    }

    @Test("a variable frame rate made constant is caught; kept, it passes")
    func constantRate() throws {
        guard Clips.source != nil else { return }
        let variable = try #require(
            Clips.make(
                "variable.mkv",
                "-i SOURCE -map 0:v -fps_mode passthrough -vf select='mod(n\\,3)' -c:v libx264 -preset veryfast"))
        let constant = try #require(
            Clips.make("constant.mkv", "-i \(variable) -r 25 -fps_mode cfr -c:v libx264 -preset veryfast"))
        let kept = try #require(
            Clips.make("kept.mkv", "-i \(variable) -fps_mode passthrough -c:v libx264 -preset veryfast"))
        let report = try Verifier(source: variable, output: constant, full: false).report()
        #expect(report.findings.contains { $0.kind == .duplicated || $0.kind == .missing })
        #expect(report.findings.contains { $0.detail.contains("at a constant 25") }, "\(report.findings)")
        #expect(try Verifier(source: variable, output: kept, full: false).report().pass)
    }

    @Test("HDR10 metadata that is dropped is caught")
    func mastering() throws {
        guard Clips.source != nil else { return }
        let colours = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc"
        let params =
            "hdr10=1:repeat-headers=1:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)"
            + "L(10000000,1):max-cll=1000,400:log-level=none"
        let source = try #require(
            Clips.make(
                "hdr.mp4",
                "-i SOURCE -t 1 -map 0:v -fps_mode passthrough -pix_fmt yuv420p10le -c:v libx265 -preset ultrafast "
                    + "\(colours) -x265-params \(params)"))
        let output = try #require(
            Clips.make(
                "hdr-lost.mp4",
                "-i \(source) -vf sidedata=mode=delete -fps_mode passthrough -c:v libx264 -preset veryfast \(colours)"))
        let report = try Verifier(source: source, output: output, full: false).report()
        #expect(report.findings.contains { $0.kind == .hdr && $0.detail.contains("mdcv") }, "\(report.findings)")
        #expect(try Verifier(source: source, output: source, full: false).report().pass)
    }

    @Test("a rotation that is dropped is caught")
    func rotation() throws {
        guard Clips.source != nil else { return }
        // ffmpeg 6 and later turn by an option of the input, ffmpeg 5 by a tag of the output.
        let source = try #require(
            Clips.make("turned.mp4", "-display_rotation 90 -i SOURCE -map 0:v -c copy")
                ?? Clips.make("turned5.mp4", "-i SOURCE -map 0:v -c copy -metadata:s:v:0 rotate=90"))
        let output = try #require(
            Clips.make("upright.mp4", "-display_rotation 0 -i \(source) -c copy")
                ?? Clips.make("upright5.mp4", "-i \(source) -c copy -metadata:s:v:0 rotate=0"))
        let report = try Verifier(source: source, output: output, full: false).report()
        #expect(report.findings.contains { $0.kind == .rotation }, "\(report.findings)")
    }

    @Test("chapters that are dropped are caught")
    func chapters() throws {
        guard Clips.source != nil else { return }
        let list = Clips.folder + "/chapters.txt"
        let text =
            ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=3000\ntitle=One\n"
            + "[CHAPTER]\nTIMEBASE=1/1000\nSTART=3000\nEND=6000\ntitle=Two\n"
        try text.write(toFile: list, atomically: true, encoding: .utf8)
        let source = try #require(
            Clips.make("chapters.mkv", "-i SOURCE -f ffmetadata -i \(list) -map 0:v -map_metadata 1 -c copy"))
        let output = try #require(Clips.make("no-chapters.mkv", "-i \(source) -map_chapters -1 -c copy"))
        let report = try Verifier(source: source, output: output, full: false).report()
        #expect(report.findings.map(\.kind) == [.chapters], "\(report.findings)")
    }
}
