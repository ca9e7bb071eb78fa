/// Lays out progress as one line. Pure.
struct ProgressLine: Sendable {
    /// Whether the terminal shows more than ASCII.
    var isUnicode = true
    var isColoured = false

    /// One line of at most `width` columns, without a line break. What fits not is left out, the least wanted first.
    func bar(_ progress: ExportProgress, width: Int) -> String {
        // The last column stays empty: some terminals wrap when it is written to.
        let room = max(width - 1, 1)
        var fields = fields(of: progress)
        while true {
            let text = fields.map(\.text).joined(separator: "  ")
            let left = room - text.count - 2
            if left >= 10 || fields.count <= 1 {
                return assemble(progress, text: text, room: room, bar: min(left, 40))
            }
            if left >= -2, fields.count <= 4 { return assemble(progress, text: text, room: room, bar: 0) }
            guard let weakest = fields.indices.max(by: { fields[$0].rank < fields[$1].rank }) else { return "" }
            fields.remove(at: weakest)
        }
    }

    /// For a pipe or a log: a sentence, with no control character.
    func sentence(_ progress: ExportProgress) -> String {
        var parts: [String] = [progress.stage.rawValue]
        if let share = progress.share {
            parts[0] += " " + Wording.percent(share)
        } else if progress.elapsed >= 1 {
            // Where nothing can be counted, at least no line is like the one before.
            parts.append("\(Wording.clock(progress.elapsed)) since the start")
        }
        guard !progress.isAfterEncoding else { return "weft: " + parts.joined(separator: ", ") + "\n" }
        if progress.framesDone > 0 {
            parts.append(
                (progress.framesTotal.map { "\(progress.framesDone) of \(progress.isEstimate ? "about " : "")\($0)" }
                    ?? "\(progress.framesDone)") + " frames"
            )
        }
        if progress.framesPerSecond > 0 { parts.append("\(Wording.decimal(progress.framesPerSecond, 1)) fps") }
        if let realtime = progress.realtime { parts.append("\(Wording.decimal(realtime, 2))x real time") }
        if progress.slotsTotal > 0 { parts.append("\(progress.slotsBusy)/\(progress.slotsTotal) slots busy") }
        if let total = progress.segmentsTotal { parts.append("\(progress.segmentsDone)/\(total) segments") }
        if progress.bytes > 0 { parts.append(Wording.bytes(progress.bytes)) }
        if let remaining = progress.remaining { parts.append("\(Wording.clock(remaining)) to go") }
        return "weft: " + parts.joined(separator: ", ") + "\n"
    }

    private struct Field {
        var text: String
        /// The higher, the earlier it is left out.
        var rank: Int
    }

    private func fields(of progress: ExportProgress) -> [Field] {
        var fields = [Field(text: progress.stage.rawValue, rank: 0)]
        if let share = progress.share { fields.append(Field(text: Self.pad(Wording.percent(share), 5), rank: 1)) }
        if progress.framesDone > 0 || progress.framesTotal != nil {
            let isEstimate = progress.isEstimate
            fields.append(
                Field(
                    text: Self.part(
                        progress.framesDone, of: progress.framesTotal, isEstimate ? (isUnicode ? "≈" : "~") : "")
                        + " frames",
                    rank: 5))
        }
        if progress.framesPerSecond > 0 {
            let decimals = progress.framesPerSecond < 10 ? 1 : 0
            fields.append(Field(text: "\(Wording.decimal(progress.framesPerSecond, decimals)) fps", rank: 3))
        }
        if let realtime = progress.realtime {
            let times = isUnicode ? "×" : "x"
            fields.append(Field(text: Wording.decimal(realtime, realtime < 10 ? 1 : 0) + times, rank: 4))
        }
        if progress.slotsTotal > 0 {
            fields.append(Field(text: Self.part(progress.slotsBusy, of: progress.slotsTotal) + " slots", rank: 6))
        }
        if let total = progress.segmentsTotal {
            fields.append(Field(text: Self.part(progress.segmentsDone, of: total) + " segments", rank: 8))
        }
        if progress.bytes > 0 { fields.append(Field(text: Wording.bytes(progress.bytes), rank: 7)) }
        let remaining = progress.remaining.map { Wording.clock($0) } ?? "-:--"
        fields.append(Field(text: "ETA " + Self.pad(remaining, 5), rank: 2))
        return fields
    }

    /// Puts the bar between the stage and the rest.
    private func assemble(_ progress: ExportProgress, text: String, room: Int, bar width: Int) -> String {
        let stage = progress.stage.rawValue
        guard width >= 4, let share = progress.share else { return String(text.prefix(room)) }
        let rest = text.dropFirst(stage.count)
        let filled = Int((Double(width) * share).rounded(.down))
        let full = String(repeating: isUnicode ? "━" : "#", count: filled)
        let empty = String(repeating: isUnicode ? "─" : ".", count: width - filled)
        let bar = isColoured ? "\u{1B}[32m\(full)\u{1B}[0m\u{1B}[2m\(empty)\u{1B}[0m" : full + empty
        return "\(stage)  \(bar)\(rest)"
    }

    /// "  47/260", always as wide as at the end: what is shown must not change with every digit.
    private static func part(_ done: Int, of total: Int?, _ mark: String = "") -> String {
        guard let total else { return "\(done)" }
        return pad("\(done)", "\(total)".count) + "/\(mark)\(total)"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
