internal import Foundation
internal import Support
internal import Testing
internal import Verification

/// A film with two different channels of sound, chapters, a time code, a cover and subtitles, and outputs broken in one way each.
@Suite("Broken outputs")
struct BrokenOutputTests {
    private static let film: String? = {
        guard Clips.source != nil else { return nil }
        let list = Clips.folder + "/film-chapters.txt"
        let text =
            ";FFMETADATA1\ntitle=Film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=3000\ntitle=One\n"
            + "[CHAPTER]\nTIMEBASE=1/1000\nSTART=3000\nEND=6000\ntitle=Two\n"
        try? text.write(toFile: list, atomically: true, encoding: .utf8)
        guard let cover = Clips.make("cover.png", "-f lavfi -i color=red:s=32x32 -frames:v 1") else { return nil }
        return Clips.make(
            "film.mp4",
            "-i SOURCE -f lavfi -i anoisesrc=d=6:a=0.2:seed=7:c=pink -f lavfi -i anoisesrc=d=6:a=0.2:seed=8:c=brown "
                + "-f ffmetadata -i \(list) -i \(cover) -filter_complex [1:a][2:a]join=inputs=2:channel_layout=stereo[a] "
                + "-map 0:v -map [a] -map 0:s -map 4:v -map_metadata 3 -map_chapters 3 -c copy -c:v:0 copy -c:a aac "
                + "-disposition:v:1 attached_pic -metadata:s:a:0 language=eng -metadata:s:s:0 language=ger "
                + "-timecode 01:00:00:00 -movflags +faststart")
    }()

    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        /// ffmpeg's; FILM stands for the source. Empty: the film's bytes, changed by `patch`.
        var arguments: String
        var finding: Finding.Kind
        var detail = ""
        var isFull = false
        var patch: Patch?

        enum Patch: Sendable {
            /// A box's type becomes "free", in all tracks.
            case hide(String)
            /// This share of the file is left.
            case cut(Double)
        }

        var testDescription: String { name }
    }

    private static let all = "-i FILM -map 0:v -map 0:a -map 0:s"
    private static let encode = "-c copy -fps_mode passthrough -c:v:0 libx264 -preset veryfast -crf 20 -g 25"

    static let faults: [Fault] = [
        Fault(
            name: "chapter-moved.mp4",
            arguments: "-i FILM -f ffmetadata -i CHAPTERS -map 0:v -map 0:a -map 0:s -map_chapters 1 -c copy",
            finding: .chapters, detail: "Chapter 2 starts"),
        Fault(
            name: "caption-changed.mp4",
            arguments:
                "-i FILM -i CAPTIONS -map 0:v -map 0:a -map 1:s -c copy -c:s mov_text -metadata:s:s:0 language=ger",
            finding: .captions, detail: "\"World\" → \"Worlds\""),
        Fault(
            name: "caption-longer.mp4",
            arguments:
                "-i FILM -i LONGER -map 0:v -map 0:a -map 1:s -c copy -c:s mov_text -metadata:s:s:0 language=ger",
            finding: .timestamps, detail: "shown for another time"),
        Fault(
            name: "caption-language.mp4", arguments: "\(all) -c copy -metadata:s:s:0 language=fre", finding: .language),
        Fault(
            name: "timecode-lost.mp4",
            arguments: "\(all) -c copy -metadata timecode= -metadata:s:v:0 timecode= -write_tmcd 0",
            finding: .timecode),
        Fault(
            name: "cover-lost.mp4", arguments: "-i FILM -map 0:v:0 -map 0:a -map 0:s -c copy", finding: .missingTrack,
            detail: "cover"),
        Fault(
            name: "channels-swapped.mp4",
            arguments: "\(all) -c copy -c:a aac -af channelmap=map=FR-FL|FL-FR:channel_layout=stereo",
            finding: .channels, isFull: true),
        Fault(name: "mixed-down.mp4", arguments: "\(all) -c copy -c:a aac -ac 1", finding: .channels),
        Fault(name: "edit-list-removed.mp4", arguments: "", finding: .soundOffset, patch: .hide("edts")),
        Fault(name: "sync-table-removed.mp4", arguments: "", finding: .sync, patch: .hide("stss")),
        Fault(name: "cut-off.mp4", arguments: "", finding: .damage, patch: .cut(0.8)),
        Fault(
            name: "last-second-lost.mp4", arguments: "\(all) \(encode) -frames:v:0 125", finding: .missing,
            detail: "25 of 150"),
        Fault(
            name: "segment-of-wrong-frames.mp4",
            arguments: "-i FILM -filter_complex [0:v:0]split[a][b];[b]setpts=PTS+0.04/TB[c];"
                + "[a][c]overlay=enable='between(t\\,2\\,3.99)':eof_action=pass[v] -map [v] -map 0:a -map 0:s -c copy "
                + "-fps_mode passthrough -c:v libx264 -preset veryfast -crf 12",
            finding: .picture, detail: "wrong frames", isFull: true),
        Fault(
            name: "flipped.mp4", arguments: "\(all) \(encode) -filter:v:0 vflip", finding: .picture, isFull: true),
        Fault(
            name: "coarse-segment.mp4", arguments: "\(all) \(encode) -filter:v:0 avgblur=3:enable='between(n,50,99)'",
            finding: .seam, detail: "quality changes", isFull: true),
        Fault(
            name: "sound-drifts.mp4", arguments: "\(all) -c copy -c:a aac -af asetrate=43900,aresample=44100",
            finding: .soundEnd),
        Fault(
            name: "hole-in-sound.mp4", arguments: "\(all) -c copy -bsf:a noise=drop=between(n\\,60\\,80)",
            finding: .soundGap),
        Fault(
            name: "interleaved-coarsely.mp4", arguments: "\(all) -c copy -movflags empty_moov -frag_duration 60000000",
            finding: .container, detail: "apart in the file"),
        Fault(
            name: "transfer-changed.mp4",
            arguments: "\(all) -c copy -bsf:v:0 h264_metadata=transfer_characteristics=16",
            finding: .colour),
        Fault(
            name: "second-sound-only.mkv",
            arguments: "-i FILM -map 0:v:0 -map 0:s -c copy -c:s srt", finding: .missingTrack, detail: "audio"),
    ]

    private static func text(_ name: String, _ text: String) throws -> String {
        let path = Clips.folder + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func output(_ fault: Fault, of film: String) throws -> String {
        if let patch = fault.patch {
            var bytes = try Data(contentsOf: URL(fileURLWithPath: film))
            switch patch {
            case .cut(let share): bytes.removeLast(Int(Double(bytes.count) * (1 - share)))
            case .hide(let name):
                while let place = bytes.range(of: Data(name.utf8)) {
                    bytes.replaceSubrange(place, with: Data("free".utf8))
                }
            }
            let path = Clips.folder + "/" + fault.name
            try bytes.write(to: URL(fileURLWithPath: path))
            return path
        }
        let captions = "1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:02,000 --> 00:00:0"
        var arguments = fault.arguments.replacingOccurrences(of: "FILM", with: film)
        for (word, path) in [
            (
                "CHAPTERS",
                try Self.text(
                    "moved.txt",
                    ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=3400\ntitle=One\n[CHAPTER]\nTIMEBASE=1/1000\n"
                        + "START=3400\nEND=6000\ntitle=Two\n")
            ),
            ("CAPTIONS", try Self.text("changed.srt", captions + "3,000\nWorlds\n\n")),
            ("LONGER", try Self.text("longer.srt", captions + "4,500\nWorld\n\n")),
        ] { arguments = arguments.replacingOccurrences(of: word, with: path) }
        return try #require(Clips.make(fault.name, arguments, input: film))
    }

    @Test("a copy of the film with all that it carries passes, and so does one that was encoded anew")
    func passes() throws {
        guard let film = Self.film else { return }
        let copy = try #require(
            Clips.make("film-copy.mp4", "-i SOURCE -map 0:v -map 0:a -map 0:s -c copy", input: film))
        let report = try Verifier(source: film, output: copy, full: true).report()
        #expect(report.pass, "\(report.findings)")
        #expect(report.lowestPSNR == 100 && report.lowestSSIM == 1)
        #expect(report.tracks.first?.maxTimeError == 0)
        let arguments = "\(Self.all) \(Self.encode) -c:a aac".replacingOccurrences(of: "FILM", with: film)
        let anew = try #require(Clips.make("film-anew.mp4", arguments, input: film))
        let second = try Verifier(source: film, output: anew, full: true).report()
        #expect(second.pass, "\(second.findings)")
        #expect((second.lowestSSIM ?? 0) > 0.9 && !second.joins.isEmpty)
        #expect(second.sync.contains { $0.method == "content" && abs($0.offset) < 0.002 }, "\(second.sync)")
    }

    @Test("a fault is caught, and named", arguments: faults)
    func catches(_ fault: Fault) throws {
        guard let film = Self.film else { return }
        let output = try output(fault, of: film)
        let report = try Verifier(source: film, output: output, full: fault.isFull).report()
        #expect(!report.pass)
        #expect(
            report.findings.contains {
                $0.kind == fault.finding && (fault.detail.isEmpty || $0.detail.contains(fault.detail))
            },
            "\(report.findings) \(report.notes)")
    }

    @Test("what the export's report lists as lost is accepted, and nothing else")
    func declared() throws {
        guard let film = Self.film else { return }
        let output = try #require(
            Clips.make("bare.mp4", "-i SOURCE -map 0:v:0 -map 0:a -map_chapters -1 -c copy -write_tmcd 0", input: film))
        let losses = ["Track 2 (mov_text), subtitles, is not carried.", "The chapters are not carried."]
        let report = try Verifier(
            source: film, output: output, full: false, declared: .init(sentences: losses, kinds: [.timecode])
        ).report()
        #expect(Set(report.accepted.map(\.kind)).isSuperset(of: [.missingTrack, .chapters]))
        #expect(report.findings.allSatisfy { $0.detail.contains("cover") }, "\(report.findings)")
        #expect(!report.findings.isEmpty)
    }

    @Test("a part of the film is judged as that part")
    func part() throws {
        guard let film = Self.film else { return }
        let output = try #require(
            Clips.make(
                "part.mkv", "-ss 2 -t 3 -i SOURCE -map 0:v:0 -map 0:a \(Self.encode) -c:a pcm_s16le -map_chapters -1",
                input: film))
        func report(_ range: VerificationRange) throws -> VerificationReport {
            try Verifier(
                source: film, output: output, full: true, range: range,
                declared: .init(kinds: [.missingTrack, .chapters, .timecode])
            ).report()
        }
        let whole = try report(.init())
        #expect(whole.findings.contains { $0.kind == .missing })
        #expect(whole.findings.contains { $0.detail.contains("--start 2.0 --end 5.0") }, "\(whole.findings)")
        let part = try report(
            .init(start: .init(value: 2, timescale: 1), end: .init(value: 5, timescale: 1)))
        #expect(part.pass, "\(part.findings)")
        #expect(part.comparedPictures == 75)
    }

    @Test("sound that was encoded anew, 20 ms late, is heard to be late by that: a clip of flashes and beeps")
    func heard() throws {
        guard Clips.source != nil, let clip = RealMedia.path("firefox-esr--sync.webm") else { return }
        func measured(_ name: String, _ delay: Double) throws -> VerificationReport {
            let output = try #require(
                Clips.make(
                    name, "-i SOURCE -itsoffset \(delay) -i SOURCE -map 0:v -map 1:a -c:v copy -c:a flac", input: clip))
            return try Verifier(source: clip, output: output, full: false).report()
        }
        let late = try measured("beep-late.mkv", 0.02)
        #expect(late.findings.map(\.kind).contains(.soundOffset), "\(late.findings)")
        let inStep = try measured("beep-in-step.mkv", 0)
        #expect(!inStep.findings.map(\.kind).contains(.soundOffset), "\(inStep.findings)")
    }
}
