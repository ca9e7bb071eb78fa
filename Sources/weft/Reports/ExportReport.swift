internal import ClusterProtocol

extension JobReport {
    /// The few lines that end an export on a terminal.
    /// - Parameter width: columns; `nil` leaves every sentence in one line, for programs that look for it.
    func summary(bytes: Int64?, width: Int? = nil) -> String {
        let realtime = wallSeconds > 0 ? duration.seconds / wallSeconds : 0
        var lines = [
            "\(output)",
            "  \(Wording.count(frames, "frame")), \(Wording.clock(duration.seconds))"
                + (bytes.map { ", \(Wording.bytes($0))" } ?? ""),
            slots == 0
                ? "  \(Wording.clock(wallSeconds)) to copy the picture as it is: \(Wording.decimal(realtime, realtime < 1 ? 2 : 1))x real time"
                : "  \(Wording.clock(wallSeconds)) for \(Wording.count(segments, "segment")) on \(Wording.count(slots, "slot")): "
                    + "\(Wording.decimal(realtime, realtime < 1 ? 2 : 1))x real time, \(Wording.percent(efficiency)) of the slots' time spent encoding",
        ]
        if let proof { lines.append("  proof: " + proof.sentence) }
        if attempts > segments {
            lines.append("  \(Wording.count(attempts - segments, "attempt")) more than there are segments")
        }
        if !damage.isEmpty { lines += damageLines }
        if !carried.isEmpty { lines.append(carriedLine) }
        lines += losses.map { Self.sentence("lost", $0, width) } + warnings.map { Self.sentence("note", $0, width) }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension JobReport {
    private static func sentence(_ word: String, _ text: String, _ width: Int?) -> String {
        guard let width else { return "  \(word): \(text)" }
        let lines = Help.wrap(TextTable.printable(text), indent: word.count + 4, width: max(40, width - 1))
        return "  \(word): " + lines.drop { $0 == " " }.dropLast()
    }

    /// All that is carried, in lines of 80 columns.
    private var carriedLine: String {
        let text = TextTable.printable(carried.map(\.words).joined(separator: ", "))
        return "  carried: " + Help.wrap(text, indent: 11, width: 80).drop { $0 == " " }.dropLast()
    }
}

extension JobReport {
    /// "2 places damaged", and the first few of them.
    private var damageLines: [String] {
        let shown = 8
        let places = damage.prefix(shown).map { place in
            let count = place.frames > 0 ? Wording.count(place.frames, "frame") : "an unknown number of frames"
            let start = Wording.clock(place.start.seconds, decimals: 3)
            let end = Wording.clock(place.end.seconds, decimals: 3)
            return "    \(start)–\(end), track \(place.track): \(count) \(place.kind.rawValue), \(place.detail)"
        }
        let rest = damage.count > shown ? ["    and \(damage.count - shown) more; the report lists all"] : []
        return ["  \(Wording.count(damage.count, "place")) damaged:"] + places + rest
    }
}

extension JobReport.Proof {
    var sentence: String {
        let counts = "\(Wording.count(sourceFrames, "source frame")), \(outputFrames) in the output"
        if pass {
            let others = tracks.isEmpty ? "" : "; \(Wording.count(tracks.count, "other track")) complete"
            return "holds; \(counts), none missing, none twice\(others)"
        }
        return "FAILS; \(counts), \(missing) missing, \(duplicated) twice, "
            + "largest timestamp error \(maxPTSError) s"
    }
}
