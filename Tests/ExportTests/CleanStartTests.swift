internal import Foundation
internal import Support
internal import Testing

/// Wherever a source is cut, every picture is the one that a single pass of ffmpeg's decoder shows at that time.
@Suite("Clean starts")
struct CleanStartTests {
    struct Kind: CustomTestStringConvertible, Sendable {
        /// The source as the program sees it.
        var name: String
        var encoding: String
        /// What is changed in the encoder's transport stream.
        var edit: (@Sendable (inout Data) -> Void)?
        /// Options of a copy made of it, for another container or with packets left out.
        var copy: String?
        /// Up to so many pictures of the single pass are left out at the start: what they refer to is not there.
        var broken = 0
        /// Pictures that the single pass leaves out although they can be decoded.
        var surplus = 0
        var segments = 2
        var testDescription: String { name }
    }

    private static let x265 =
        "-c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=25:min-keyint=25:scenecut=0:bframes=4:b-adapt=0"
    private static let vp9 =
        "-c:v libvpx-vp9 -deadline good -cpu-used 8 -auto-alt-ref 1 -lag-in-frames 16 -g 50 -b:v 300k"

    static let kinds: [Kind] = [
        Kind(name: "decodable leading pictures (RADL) of IDR pictures.mkv", encoding: x265 + ":open-gop=0:radl=2"),
        Kind(name: "open groups without their first packets.mkv", encoding: x265 + ":open-gop=0:radl=2", copy: cut),
        Kind(name: "BLA pictures.ts", encoding: x265 + ":open-gop=1", edit: makeBLA),
        Kind(name: "BLA pictures.mp4", encoding: x265 + ":open-gop=1", edit: makeBLA, copy: ""),
        Kind(
            name: "CRA pictures after an end of sequence.ts", encoding: x265 + ":open-gop=1:aud=1", edit: endSequences,
            surplus: 6),
        Kind(
            name: "CRA pictures after a cut inside a group.ts", encoding: x265 + ":open-gop=1", edit: cutOff, broken: 25
        ),
        Kind(
            name: "recovery points some pictures ahead.ts",
            encoding: "-c:v libx264 -preset veryfast -bf 2 -x264-params intra-refresh=1:keyint=20"),
        Kind(
            name: "recovery points after a cut.ts",
            encoding: "-c:v libx264 -preset veryfast -bf 2 -x264-params intra-refresh=1:keyint=20", edit: cutOff),
        Kind(
            name: "recovery points without any IDR picture.ts",
            encoding: "-c:v libx264 -preset ultrafast -refs 1 -x264-params intra-refresh=1:keyint=25",
            copy: without("5")),
        Kind(
            name: "intra pictures that promise nothing.ts",
            encoding: "-c:v libx264 -preset ultrafast -bf 2 -g 25 -x264-params open-gop=1", copy: without("5|6"),
            segments: 1),
        Kind(name: "open groups with broken links.ts", encoding: mpeg2, edit: breakLinks),
        Kind(name: "open groups with broken links.mkv", encoding: mpeg2, edit: breakLinks, copy: ""),
        Kind(name: "open groups after a cut.ts", encoding: mpeg2, edit: cutOff),
        Kind(name: "open groups without presentation times.avi", encoding: "-c:v mpeg4 -bf 2 -g 25 -q:v 3"),
        Kind(name: "hidden pictures, in packets of their own.mkv", encoding: vp9, copy: "-bsf:v vp9_superframe_split"),
        Kind(name: "hidden pictures, first packets gone.webm", encoding: vp9, copy: cut),
        Kind(
            name: "hidden pictures shown later.mkv",
            encoding: "-c:v libaom-av1 -cpu-used 8 -lag-in-frames 25 -g 50 -b:v 300k"),
        Kind(
            name: "forward key frames.mkv", encoding: "-c:v libsvtav1 -preset 12 -g 50 -svtav1-params irefresh-type=1",
            segments: 1),
        Kind(name: "intra only, JPEG.avi", encoding: "-c:v mjpeg -q:v 3"),
        Kind(name: "intra only, ProRes.mov", encoding: "-pix_fmt yuv422p10le -c:v prores_ks"),
        Kind(
            name: "intra only, DNxHR.mov",
            encoding: "-vf scale=256:144 -pix_fmt yuv422p -c:v dnxhd -profile:v dnxhr_sq"),
        Kind(
            name: "every picture marked as a keyframe, H.264.mp4",
            encoding: "-c:v libx264 -preset ultrafast -bf 2 -g 35", edit: markAll),
        Kind(
            name: "every picture marked as a keyframe, VP9.mp4",
            encoding: vp9.replacingOccurrences(of: "-g 50", with: "-g 35"), edit: markAll),
    ]

    private static let mpeg2 = "-c:v mpeg2video -bf 2 -g 12 -q:v 3"
    private static let cut = "-bsf:v noise=drop=lt(n\\,7)"
    private static func without(_ units: String) -> String { "-bsf:v filter_units=remove_types=\(units)" }

    // MARK: Edits

    /// CRA_NUT becomes BLA_W_LP: of the same syntax but for the header (Rec. ITU-T H.265 Table 7-1, §7.3.6.1).
    @Sendable private static func makeBLA(_ data: inout Data) {
        for place in starts([42, 1], in: data) { data[place] = 32 }
    }

    /// Before every second CRA picture the delimiter of access units becomes EOS_NUT.
    @Sendable private static func endSequences(_ data: inout Data) {
        let delimiters = starts([70, 1], in: data)
        for (number, place) in starts([42, 1], in: data).enumerated() where number % 2 == 1 {
            if let delimiter = delimiters.last(where: { $0 < place }) { data[delimiter] = 72 }
        }
    }

    /// Sets broken_link in every third header of a group (ISO/IEC 13818-2 §6.2.2.6).
    @Sendable private static func breakLinks(_ data: inout Data) {
        for (number, place) in starts([0xB8], in: data).enumerated() where number % 3 == 2 { data[place + 4] |= 0x20 }
    }

    /// Without the table of sync samples every sample is one (ISO/IEC 14496-12 §8.6.2.1).
    @Sendable private static func markAll(_ data: inout Data) {
        if let table = data.range(of: Data("stss".utf8)) { data.replaceSubrange(table, with: Data("free".utf8)) }
    }

    /// Takes the first seventh off, by packets of the transport stream.
    @Sendable private static func cutOff(_ data: inout Data) { data.removeFirst(data.count / 188 / 7 * 188) }

    /// Places behind start codes that are followed by these bytes.
    private static func starts(_ unit: [UInt8], in data: Data) -> [Int] {
        let mark = Data([0, 0, 1] + unit)
        var places: [Int] = []
        var from = data.startIndex
        while let found = data.range(of: mark, in: from..<data.endIndex) {
            places.append(found.lowerBound + 3)
            from = found.upperBound
        }
        return places
    }

    private static func make(_ kind: Kind, in place: Workplace) throws -> String? {
        let path = place.file(kind.name)
        let isDirect = kind.copy == nil
        let first = isDirect ? path : place.file(kind.edit == nil && !kind.name.hasSuffix(".ts") ? "raw.mkv" : "raw.ts")
        let input = ["-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=7", "-pix_fmt", "yuv420p"]
        guard try FFmpegProgram.run(input + kind.encoding.split(separator: " ").map(String.init) + [first]) else {
            return nil
        }
        if let edit = kind.edit {
            var data = try Data(contentsOf: URL(fileURLWithPath: first))
            edit(&data)
            try data.write(to: URL(fileURLWithPath: kind.copy == nil ? path : first))
        }
        guard let copy = kind.copy else { return path }
        let made = try FFmpegProgram.run(
            ["-i", first, "-c", "copy"] + copy.split(separator: " ").map(String.init) + [path])
        return made ? path : nil
    }

    // MARK: Tests

    private struct Account: Decodable {
        struct Proof: Decodable { var pass: Bool }
        var proof: Proof
        var segments: Int
    }

    private static let exact = ["-c", "h264", "-o", "qp=0", "-o", "preset=ultrafast", "--segment-duration", "2"]

    @Test("every picture is that of a single pass, at its time, whatever the source is cut at", arguments: kinds)
    func isSinglePass(_ kind: Kind) throws {
        let place = try Workplace()
        guard let source = try Self.make(kind, in: place) else { return }
        let output = place.file("out.mkv")
        let outcome = try Program.run(
            Program.weft, ["export", source, output, "--json", "--quiet", "--state", place.file("state")] + Self.exact)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let account = try JSONDecoder().decode(Account.self, from: outcome.output)
        #expect(account.proof.pass)
        #expect(account.segments >= kind.segments)

        let single = try Judge(path: source).pictures(), cut = try Judge(path: output).pictures()
        let first = try #require(cut.keys.min())
        let expected = single.filter { $0.key >= first - 1 }
        #expect(single.count - expected.count <= kind.broken)
        #expect(cut.count - expected.count == kind.surplus)
        // A transport stream and Matroska round times differently.
        let wrong = expected.filter { picture in
            !(-1...1).contains { cut[picture.key + $0] == picture.value }
        }
        #expect(wrong.isEmpty, "pictures \(wrong.keys.sorted()) ms before the end are others than in a single pass")
    }

    @Test("a stream that nothing can be decoded of is refused as the source's fault", arguments: ["1|5|6", "7|8"])
    func isRefused(_ units: String) throws {
        let place = try Workplace()
        let kind = Kind(
            name: "bad.ts", encoding: "-c:v libx264 -preset ultrafast -x264-params intra-refresh=1:keyint=25",
            copy: Self.without(units))
        guard let source = try Self.make(kind, in: place) else { return }
        let outcome = try Program.run(
            Program.weft, ["export", source, place.file("out.mkv"), "--quiet", "--state", place.file("state")])
        #expect(outcome.status == 65, "\(outcome.errors)")
        #expect(outcome.errors.contains("fault  the source"), "\(outcome.errors)")
    }
}

extension Judge {
    /// A hash of each picture that a single pass shows, by the time from the last one, in milliseconds.
    fileprivate func pictures() throws -> [Int: String] {
        let outcome = try Program.run(
            "ffmpeg",
            ["-v", "quiet", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
        var unit = 0.0
        var found: [(time: Double, hash: String)] = []
        for line in String(decoding: outcome.output, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("#tb 0:") {
                let parts = line.dropFirst(6).split(separator: "/").compactMap {
                    Double($0.trimmingCharacters(in: .whitespaces))
                }
                if parts.count == 2 { unit = parts[0] / parts[1] }
            }
            let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            guard !line.hasPrefix("#"), fields.count == 6, let time = Double(fields[2]) else { continue }
            found.append((time * unit, fields[5]))
        }
        let last = found.map(\.time).max() ?? 0
        return Dictionary(found.map { (Int((($0.time - last) * 1000).rounded()), $0.hash) }) { first, _ in first }
    }
}
