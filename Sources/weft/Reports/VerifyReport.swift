/// What `weft verify` found.
struct VerifyReport: Codable, Hashable, Sendable {
    var source: String
    var output: String
    var pass: Bool
    /// Whether the pictures at the joins were compared too.
    var full: Bool
    var tracks: [Track]
    /// Empty when everything holds.
    var findings: [Finding]
    /// What is lost, and was declared beforehand.
    var accepted: [Finding] = []
    /// Differences that are no fault: another size or pixel format, what a container cannot hold.
    var notes: [Finding] = []
    /// By how many seconds sound is late against the picture, at a few places.
    var sync: [Sync] = []
    var structure: Structure?
    /// Of the pictures that were compared.
    var pictures: Pictures?
    var joins: [Join] = []
    /// Every picture that was compared.
    var likeness: [Mark]?
    var ptsErrors: [PtsError] = []

    struct Pictures: Codable, Hashable, Sendable {
        var compared: Int
        /// Luma, in decibels; 100 for equal pictures.
        var lowestPsnr: Double?
        var meanPsnr: Double?
        /// Luma, 1 for equal pictures.
        var lowestSsim: Double?
        var meanSsim: Double?
    }

    struct Mark: Codable, Hashable, Sendable {
        /// Of the output.
        var seconds: Double
        var psnr: Double
        var ssim: Double
    }

    struct PtsError: Codable, Hashable, Sendable {
        var seconds: Double
        var error: Double
    }

    struct Sync: Codable, Hashable, Sendable {
        var track: Int
        /// Seconds of the output.
        var at: Double
        /// Seconds by which sound is late.
        var offset: Double
        var method: String
    }

    /// Medians over a window either side of a place where segments may have been joined.
    struct Join: Codable, Hashable, Sendable {
        var seconds: Double
        var psnrBefore: Double
        var psnrAfter: Double
        var ssimBefore: Double
        var ssimAfter: Double
        var lowestPsnr: Double
        var visible: Bool
    }

    struct Structure: Codable, Hashable, Sendable {
        var container: String
        var fastStart: Bool?
        var fragmented: Bool?
        /// Seconds by which samples of one time lie apart in the file.
        var interleaving: Double
        var editLists: Int
    }

    struct Track: Codable, Hashable, Sendable {
        var index: Int
        var kind: String
        var sourceSamples: Int
        var outputSamples: Int
        var sourceSeconds: Double = 0
        var outputSeconds: Double?
        /// Seconds.
        var maxPtsError: Double?
        var meanPtsError: Double?
    }

    struct Finding: Codable, Hashable, Sendable {
        /// Index in the source, -1 for the file as a whole.
        var track: Int
        var kind: String
        var detail: String
    }
}

extension VerifyReport {
    var text: String {
        var table = TextTable([
            .init("track", .right), .init("kind"), .init("source", .right), .init("output", .right),
            .init("seconds", .right), .init("output", .right), .init("largest time error", .right),
        ])
        for track in tracks {
            table.add([
                "\(track.index)", track.kind, "\(track.sourceSamples)", "\(track.outputSamples)",
                Wording.decimal(track.sourceSeconds, 3), track.outputSeconds.map { Wording.decimal($0, 3) } ?? "",
                track.maxPtsError.map { $0 == 0 ? "none" : "\(Wording.decimal($0 * 1000, 3)) ms" } ?? "",
            ])
        }
        var text = table.text
        if !findings.isEmpty {
            var list = TextTable([.init("track", .right), .init("finding"), .init("detail")])
            for finding in findings {
                list.add([finding.track < 0 ? "" : "\(finding.track)", finding.kind, finding.detail])
            }
            text += "\n" + list.text
        }
        for (word, list) in [("declared", accepted), ("note", notes)] {
            for item in list {
                text += "\(word): " + (item.track < 0 ? "" : "track \(item.track): ") + item.detail + "\n"
            }
        }
        text += syncText + pictureText
        let scope = full ? "timestamps, sound and pictures" : "timestamps"
        text += pass ? "\npass: \(scope) hold\n" : "\nFAIL: \(Wording.count(findings.count, "finding"))\n"
        return text
    }

    private var syncText: String {
        guard let first = sync.first, let worst = sync.max(by: { abs($0.offset) < abs($1.offset) }) else { return "" }
        return "sound against picture: \(Wording.decimal(first.offset * 1000, 1)) ms at the start, "
            + "\(Wording.decimal((sync.last ?? first).offset * 1000, 1)) ms at the end, "
            + "\(Wording.decimal(worst.offset * 1000, 1)) ms where it is largest\n"
    }

    private var pictureText: String {
        guard let pictures, let lowest = pictures.lowestPsnr, let mean = pictures.meanPsnr,
            let lowestSsim = pictures.lowestSsim, let meanSsim = pictures.meanSsim
        else { return "" }
        let visible = joins.filter(\.visible).count
        return "\(Wording.count(pictures.compared, "picture")) compared: luma PSNR \(Wording.decimal(mean, 1)) dB on "
            + "average, \(Wording.decimal(lowest, 1)) dB at least; SSIM \(Wording.decimal(meanSsim, 4)) on average, "
            + "\(Wording.decimal(lowestSsim, 4)) at least\n"
            + "\(Wording.count(joins.count, "place")) where segments may join: "
            + (visible == 0 ? "none shows\n" : "\(visible) can be seen\n")
    }
}
