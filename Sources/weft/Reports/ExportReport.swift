internal import MediaTime

/// The account of an export: the JSON of `--report` and `--json`. Keys are written in snake_case.
struct ExportReport: Codable, Hashable, Sendable {
    var job: String
    var state: String
    var output: String
    var segments: Int
    /// Leases given, including those that failed or were duplicates.
    var attempts: Int
    var frames: Int
    var duration: MediaTime
    var wallSeconds: Double
    /// Sum over all slots.
    var encodeSeconds: Double
    var slots: Int
    /// Share of slots × wall time that was spent encoding, 0…1.
    var efficiency: Double
    /// From the last segment's result to the end.
    var tailSeconds: Double
    var warnings: [String]
    /// What the source carries and the output does not.
    var losses: [String]
    /// Over the compressed samples of the video track, in hex.
    var videoHash: String
    var proof: Proof

    struct Proof: Codable, Hashable, Sendable {
        var pass: Bool
        var sourceFrames: Int
        var outputFrames: Int
        var missing: Int
        var duplicated: Int
        /// Seconds; 0 when every timestamp is exact.
        var maxPtsError: Double
    }
}

extension ExportReport {
    /// The few lines that end an export on a terminal.
    func summary(bytes: Int64?) -> String {
        let realtime = wallSeconds > 0 ? duration.seconds / wallSeconds : 0
        var lines = [
            "\(output)",
            "  \(Wording.count(frames, "frame")), \(Wording.clock(duration.seconds))"
                + (bytes.map { ", \(Wording.bytes($0))" } ?? ""),
            "  \(Wording.clock(wallSeconds)) for \(Wording.count(segments, "segment")) on \(Wording.count(slots, "slot")): "
                + "\(Wording.decimal(realtime, 1))x real time, \(Wording.percent(efficiency)) of the slots' time spent encoding",
            "  proof: " + proof.sentence,
        ]
        if attempts > segments {
            lines.append("  \(Wording.count(attempts - segments, "attempt")) more than there are segments")
        }
        lines += losses.map { "  lost: \($0)" } + warnings.map { "  note: \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ExportReport.Proof {
    var sentence: String {
        let counts = "\(Wording.count(sourceFrames, "source frame")), \(outputFrames) in the output"
        if pass { return "holds; \(counts), none missing, none twice" }
        return "FAILS; \(counts), \(missing) missing, \(duplicated) twice, "
            + "largest timestamp error \(maxPtsError) s"
    }
}
