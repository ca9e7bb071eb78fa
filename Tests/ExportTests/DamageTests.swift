import Foundation
import Support
import Testing

/// Damaged sources: the export goes on and says what it met, or refuses in words; it never crashes, hangs or lies.
@Suite("Damage", .serialized)
struct DamageTests {
    /// Clips of five seconds with a keyframe every second, B pictures and sound.
    private static let clips: [(name: String, options: [String])] = [
        ("h264.mp4", ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-movflags", "+faststart"]),
        ("h264.mkv", ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-x264-params", "open-gop=1"]),
        ("h264.ts", ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2"]),
        ("h264.avi", ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "0"]),
        (
            "hevc.mp4",
            ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:open-gop=1:bframes=2"]
        ),
        ("hevc.mkv", ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"]),
        ("mpeg2.ts", ["-c:v", "mpeg2video", "-bf", "2", "-q:v", "4"]),
        ("mpeg2.avi", ["-c:v", "mpeg2video", "-q:v", "4"]),
        ("vp9.mkv", ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"]),
        ("av1.mp4", ["-c:v", "libsvtav1", "-preset", "12"]),
    ]

    private static func clip(_ name: String, in place: Workplace, length: Int = 5) throws -> String? {
        guard let options = clips.first(where: { $0.name == name })?.options else { return nil }
        let path = place.file(name)
        let sound = ["-c:a", name.hasSuffix(".avi") ? "ac3" : "aac", "-b:a", "96k"]
        let made = try FFmpegProgram.run(
            ["-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=\(length)", "-f", "lavfi", "-i", "sine=f=440:d=\(length)"]
                + options + ["-g", "25", "-pix_fmt", "yuv420p"] + sound + [path])
        return made ? path : nil
    }

    /// Lossless, so that the output's pictures are the decoder's.
    private static let exact = [
        "-c", "h264", "-q", "0", "-o", "preset=ultrafast", "--audio", "aac", "--stall-limit", "20",
    ]

    /// One export of a damaged file, several segments by two slots, and again as one segment by one slot.
    private static func check(_ source: String, in place: Workplace, _ what: String) throws {
        let cut = try place.run(source, "cut.mp4", exact + ["--segment-duration", "2", "--workers", "2"])
        #expect([0, 1, 65].contains(cut.status), "\(what): exit \(cut.status): \(cut.errors)")
        #expect(!cut.errors.contains("Fatal error"), "\(what): \(cut.errors)")
        guard cut.status == 0 else {
            #expect(cut.errors.contains("fault"), "\(what): no readable refusal: \(cut.errors)")
            return
        }
        let report = try JSONDecoder().decode(DamageReport.self, from: cut.output)
        #expect(report.proof.pass && report.proof.source_frames == report.proof.output_frames, "\(what)")
        let whole = try place.run(source, "whole.mp4", exact + ["--segment-duration", "1000", "--workers", "1"])
        #expect(whole.status == 0, "\(what), in one pass: \(whole.errors)")
        let one = try pictures(place.file("whole.mp4")), many = try pictures(place.file("cut.mp4"))
        // libavcodec's concealment of H.264 and MPEG-2 looks at what its tables held before; so pictures may differ where they are
        // named, in those that refer to them, and up to the next keyframe, which comes every 25 pictures.
        let named = report.damage.filter { $0.track == 0 }.map { place in
            let first = Int((place.start.seconds * 25).rounded()) - 4
            return first...max(first, (Int((place.end.seconds * 25).rounded()) + 24) / 25 * 25 + 3)
        }
        #expect(one.count == many.count, "\(what): \(one.count) pictures in one pass, \(many.count) in several")
        let other = zip(one, many).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
            .filter { index in !named.contains { $0.contains(index) } }
        #expect(other.isEmpty, "\(what): pictures \(other) differ in one pass, and are not named in \(report.damage)")
        let again = try JSONDecoder().decode(DamageReport.self, from: whole.output)
        let (a, b) = (report.pictures(.dropped), again.pictures(.dropped))
        #expect(a == b, "\(what): \(a) dropped in several segments, \(b) in one")
    }

    /// Time and hash of each decoded picture.
    private static func pictures(_ path: String) throws -> [String] {
        let outcome = try Program.run(
            "ffmpeg", ["-v", "error", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
        return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }.map
        {
            $0.split(separator: ",").enumerated().filter { [2, 5].contains($0.offset) }.map {
                $0.element.trimmingCharacters(in: .whitespaces)
            }.joined(separator: " ")
        }
    }

    /// `WEFT_DAMAGE_SEEDS` tries more than CI does (a count), or certain ones again (a list).
    private static let seeds: [UInt64] = {
        let words = (ProcessInfo.processInfo.environment["WEFT_DAMAGE_SEEDS"] ?? "12").split(separator: ",")
        let numbers = words.compactMap { UInt64($0) }
        return words.count == 1 ? Array(0..<(numbers.first ?? 0)) : numbers
    }()

    @Test("Whatever is damaged where, an export ends with a proof and the damage named, or with a refusal in words")
    func anything() throws {
        let place = try Workplace()
        for seed in Self.seeds {
            var random = SeededRandom(seed: 4000 + seed)
            let name = Self.clips[Int(seed) % Self.clips.count].name
            let source =
                FileManager.default.fileExists(atPath: place.file(name))
                ? place.file(name) : try Self.clip(name, in: place)
            guard let source, let damager = try? Damager(source) else { return }
            let damaged = place.file("damaged-" + name)
            let act = Damager.Act.allCases.randomElement(using: &random) ?? .flip
            let target = Damager.Place.allCases.randomElement(using: &random) ?? .middle
            let isCut = UInt64.random(in: 0..<5, using: &random) == 0
            if isCut {
                try damager.truncate(0.3...0.95, seed: seed, to: damaged)
            } else {
                try damager.damage(target, act, seed: seed, to: damaged)
            }
            let what = "seed \(seed), \(name), " + (isCut ? "cut off" : "\(target) \(act)")
            try Self.check(damaged, in: place, what)
        }
    }

    @Test("A damaged picture is named with its time; --strict and --max-damage end the export with 65")
    func named() throws {
        let place = try Workplace()
        guard let source = try Self.clip("vp9.mkv", in: place) else { return }
        let damaged = place.file("damaged.mkv")
        try Damager(source).damage(.keyframe, .drop, count: 1, seed: 1, to: damaged)
        let outcome = try place.run(damaged, "out.mp4", Self.exact)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let report = try JSONDecoder().decode(DamageReport.self, from: outcome.output)
        let named = report.pictures(.dropped) + report.pictures(.concealed)
        #expect(named > 0, "\(report.damage)")
        #expect(report.proof.output_frames + report.pictures(.dropped) == 125)
        for option in [["--strict"], ["--max-damage", "0"], ["--max-damage", "0.1%"], ["--max-damage", "0.01s"]] {
            let refused = try place.run(damaged, "no.mp4", Self.exact + option)
            #expect(refused.status == 65, "\(option): \(refused.status) \(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: place.file("no.mp4")))
        }
        #expect(try place.run(damaged, "yes.mp4", Self.exact + ["--max-damage", "\(named)"]).status == 0)
    }

    @Test("A movie whose media stops early is exported as far as it goes, and what is missing is counted")
    func cutOff() throws {
        let place = try Workplace()
        guard let source = try Self.clip("h264.mp4", in: place) else { return }
        let damaged = place.file("short.mp4")
        try Damager(source).truncate(0.6...0.6, seed: 1, to: damaged)
        let outcome = try place.run(damaged, "out.mp4", Self.exact)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let report = try JSONDecoder().decode(DamageReport.self, from: outcome.output)
        #expect(report.proof.output_frames + report.pictures(.dropped) == 125, "\(report.damage)")
        #expect(report.damage.contains { $0.detail.contains("cut off") }, "\(report.damage)")
    }

    @Test("What a header says of the length is not believed", arguments: ["h264.mp4", "hevc.mkv", "h264.avi"])
    func falseLength(name: String) throws {
        let place = try Workplace()
        guard let source = try Self.clip(name, in: place, length: 3) else { return }
        for factor in [0.4, 3.0] {
            let damaged = place.file("claims-" + name)
            try Damager(source).claimLength(times: factor, to: damaged)
            let outcome = try place.run(damaged, "out.mp4", Self.exact)
            #expect(outcome.status == 0, "\(name) × \(factor): \(outcome.errors)")
            let report = try JSONDecoder().decode(DamageReport.self, from: outcome.output)
            #expect(report.proof.pass && report.proof.output_frames == 75, "\(name) × \(factor): \(report.proof)")
        }
    }

    @Test("What is in no sample any more is named: a zeroed stretch of Matroska, packets that a transport stream lost")
    func holes() throws {
        let place = try Workplace()
        for name in ["vp9.mkv", "mpeg2.ts"] {
            guard let source = try Self.clip(name, in: place) else { return }
            let damaged = place.file("holed-" + name)
            // Half a second of five, on whole packets of a transport stream.
            try Damager(source).wipe(0.5...0.6, to: damaged)
            let outcome = try place.run(damaged, "out.mp4", Self.exact)
            #expect(outcome.status == 0, "\(name): \(outcome.errors)")
            let report = try JSONDecoder().decode(DamageReport.self, from: outcome.output)
            let dropped = report.damage.filter { $0.track == 0 && $0.kind == .dropped }
            #expect(report.proof.output_frames + report.pictures(.dropped) == 125, "\(name): \(report.damage)")
            #expect(report.proof.output_frames < 120, "\(name): nothing was lost")
            // It lies in the middle, and no longer than a group's worth around it is named.
            #expect(dropped.allSatisfy { $0.start.seconds > 1.5 && $0.end.seconds < 4.5 }, "\(name): \(report.damage)")
            // The sound is as long as it was, silent where it is missing, and that is named.
            #expect(report.damage.contains { $0.track == 1 && $0.seconds > 0.1 }, "\(name): \(report.damage)")
            let whole = try #require(try Judge(path: source).sound()),
                out = try #require(try Judge(path: place.file("out.mp4")).sound())
            #expect(abs(whole.count - out.count) <= 3072, "\(name): \(whole.count) samples became \(out.count)")
        }
    }

    @Test("Pictures that come out late behind damage, and the rest of a torn sample, push no whole picture aside")
    func order() throws {
        let place = try Workplace()
        guard let source = try Self.clip("mpeg2.ts", in: place) else { return }
        let damaged = place.file("torn.ts")
        // The first packet of two pictures comes twice: each seems to be two samples with one time.
        try Damager(source).repeatPackets(of: .middle, count: 2, seed: 4, to: damaged)
        let outcome = try place.run(damaged, "out.mp4", Self.exact)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let report = try JSONDecoder().decode(DamageReport.self, from: outcome.output)
        #expect(report.proof.output_frames >= 125, "\(report.damage)")
        let (whole, out) = (try Self.pictures(source), try Self.pictures(place.file("out.mp4")))
        let hashes = Set(out.compactMap { $0.split(separator: " ").last })
        let lost = whole.compactMap { $0.split(separator: " ").last }.filter { !hashes.contains($0) }
        // The two themselves and what refers to them within their groups, no more.
        #expect(lost.count <= 2 * 25, "\(lost.count) of 125 pictures are not as they were")
    }

    @Test("A copied sample that is damaged so that the container refuses it is left out and named")
    func copied() throws {
        let place = try Workplace()
        guard let source = try Self.clip("av1.mp4", in: place, length: 3) else { return }
        let damaged = place.file("damaged.mp4")
        try Damager(source).overwrite(.middle, with: [0x78], seed: 2, to: damaged)
        for name in ["out.mp4", "out.mkv"] {
            let outcome = try place.run(damaged, name, ["-c", "copy"])
            #expect(outcome.status == 0, "\(name): \(outcome.errors)")
            let report = try JSONDecoder().decode(DamageReport.self, from: outcome.output)
            #expect(report.pictures(.dropped) == 1 && report.proof.output_frames == 74, "\(name): \(report.damage)")
        }
    }

    @Test("Headers that are cut off or say what cannot be are refused as the source's fault, and tell what to do")
    func headers() throws {
        let place = try Workplace()
        guard let movie = try Self.clip("hevc.mp4", in: place, length: 1),
            let matroska = try Self.clip("vp9.mkv", in: place, length: 1)
        else { return }
        let (unfinished, short, strange) = (place.file("a.mp4"), place.file("b.mkv"), place.file("c.mkv"))
        try Damager(movie).truncate(0.5...0.5, seed: 1, to: unfinished)
        var bytes = try readBytes(matroska)
        try Data(bytes.prefix(300)).write(to: URL(fileURLWithPath: short))
        // EBMLReadVersion (RFC 8794 §11.2.3).
        if let at = (0..<60).first(where: { bytes[$0...].starts(with: [0x42, 0xF7, 0x81]) }) { bytes[at + 3] = 41 }
        try Data(bytes).write(to: URL(fileURLWithPath: strange))
        for path in [unfinished, short, strange] {
            let outcome = try place.run(path, "out.mp4", [])
            #expect(outcome.status == 65, "\(path): \(outcome.status) \(outcome.errors)")
            #expect(
                outcome.errors.contains("fault  the source") && !outcome.errors.contains("disk"), "\(outcome.errors)")
        }
        #expect(try place.run(unfinished, "out.mp4", []).errors.contains("without its index"))
    }

    @Test("Damaged sound is silent for as long as it was, and named")
    func sound() throws {
        let place = try Workplace()
        guard let source = try Self.clip("h264.mp4", in: place) else { return }
        let damaged = place.file("damaged.mp4")
        try Damager(source).damage(.sound, .drop, count: 3, seed: 3, to: damaged)
        let outcome = try place.run(damaged, "out.mp4", Self.exact)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let report = try JSONDecoder().decode(DamageReport.self, from: outcome.output)
        let track = report.damage.filter { $0.track == 1 }
        #expect(!track.isEmpty && track.allSatisfy { $0.kind == .concealed && $0.seconds > 0 }, "\(report.damage)")
        let whole = try #require(try Judge(path: source).sound()),
            out = try #require(try Judge(path: place.file("out.mp4")).sound())
        #expect(abs(whole.count - out.count) <= 2048, "\(whole.count) samples became \(out.count)")
    }
}

private struct DamageReport: Decodable {
    enum Kind: String, Decodable { case concealed, dropped }
    struct Time: Decodable {
        var value: Int64
        var timescale: Int32
        var seconds: Double { Double(value) / Double(timescale) }
    }
    struct Damage: Decodable {
        var track: Int
        var kind: Kind
        var start: Time
        var end: Time
        var frames: Int
        var detail: String
        var seconds: Double { end.seconds - start.seconds }
    }
    struct Proof: Decodable {
        var pass: Bool
        var source_frames: Int
        var output_frames: Int
    }
    var proof: Proof
    var damage: [Damage]

    func pictures(_ kind: Kind) -> Int {
        damage.filter { $0.kind == kind && $0.track == 0 }.reduce(0) { $0 + $1.frames }
    }
}

extension Workplace {
    fileprivate func run(_ source: String, _ name: String, _ options: [String]) throws -> Program.Outcome {
        try Program.run(
            Program.weft,
            ["export", source, file(name), "--json", "--quiet", "--overwrite", "--state", file("state")] + options)
    }
}
