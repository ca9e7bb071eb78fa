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
    /// Differences that are no fault: another size or pixel format, what a container cannot hold.
    var notes: [Finding] = []
    /// Of the pictures that were compared.
    var pictures: Pictures?

    struct Pictures: Codable, Hashable, Sendable {
        var compared: Int
        /// Luma, in decibels; 100 for equal pictures.
        var lowestPsnr: Double?
        var meanPsnr: Double?
    }

    struct Track: Codable, Hashable, Sendable {
        var index: Int
        var kind: String
        var sourceSamples: Int
        var outputSamples: Int
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
        ])
        for track in tracks {
            table.add(["\(track.index)", track.kind, "\(track.sourceSamples)", "\(track.outputSamples)"])
        }
        var text = table.text
        if !findings.isEmpty {
            var list = TextTable([.init("track", .right), .init("finding"), .init("detail")])
            for finding in findings {
                list.add([finding.track < 0 ? "" : "\(finding.track)", finding.kind, finding.detail])
            }
            text += "\n" + list.text
        }
        for note in notes { text += "note: " + (note.track < 0 ? "" : "track \(note.track): ") + note.detail + "\n" }
        if let pictures, let lowest = pictures.lowestPsnr, let mean = pictures.meanPsnr {
            text +=
                "\(Wording.count(pictures.compared, "picture")) compared: luma PSNR \(Wording.decimal(mean, 1)) dB on "
            text += "average, \(Wording.decimal(lowest, 1)) dB at least\n"
        }
        let scope = full ? "timestamps and pictures" : "timestamps"
        text += pass ? "\npass: \(scope) hold\n" : "\nFAIL: \(Wording.count(findings.count, "finding"))\n"
        return text
    }
}
