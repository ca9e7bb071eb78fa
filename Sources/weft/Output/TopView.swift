internal import ClusterProtocol
internal import Foundation

/// A cluster at one glance, as lines that fit a terminal: jobs with a bar over their video, and the slots at work.
struct TopView: Sendable {
    var jobs: [JobReport]
    var workers: [WorkerReport]
    /// Of the jobs that have a bar.
    var segments: [String: [SegmentReport]]
    var style: TerminalStyle
    var width: Int
    var height: Int

    var lines: [String] {
        var lines = [header, ""]
        // What is at work comes first, then what ended last.
        let active = jobs.filter { !$0.state.isOver }
        let shown = active + jobs.filter { $0.state.isOver }.suffix(max(0, 4 - active.count)).reversed()
        let workerLines = workerLines
        let roomForJobs = max(4, height - 3 - min(workerLines.count, height / 2))
        for job in shown {
            let added = jobLines(job)
            guard lines.count + added.count <= roomForJobs else { break }
            lines += added
        }
        lines.append("")
        lines += workerLines.prefix(max(0, height - lines.count))
        return lines.prefix(height).map { clip($0) }
    }

    private var header: String {
        let busy = workers.count { $0.state == .busy }
        let there = workers.count { $0.state.isThere }
        let rate = workers.filter { $0.state == .busy }.reduce(0) { $0 + $1.fps }
        let running = jobs.count { $0.state == .running }
        let queued = jobs.count { $0.state == .queued || $0.state == .planning }
        return style.bold("weft")
            + "  \(busy)/\(Wording.count(there, "slot")) busy  \(Wording.decimal(rate, 0)) fps  \(running) running  "
            + "\(queued) queued"
    }

    // MARK: Jobs

    private func jobLines(_ job: JobReport) -> [String] {
        var words = [job.job, job.state.rawValue, "\(job.segmentsDone)/\(job.segments)"]
        if job.segmentsFailed > 0 { words.append(style.red("\(job.segmentsFailed) failed")) }
        if !job.state.isOver, job.fps > 0 {
            words.append("\(Wording.decimal(job.fps, 0)) fps")
            if let left = job.etaSeconds { words.append("\(Wording.clock(left)) left") }
        } else if job.wallSeconds > 0 {
            words.append("in \(Wording.clock(job.wallSeconds))")
        }
        let name = job.output.split(separator: "/").last.map(String.init) ?? job.output
        words.append(style.dim(TextTable.printable(name)))
        var lines = [words.joined(separator: "  ")]
        if let segments = segments[job.job], !segments.isEmpty { lines.append(bar(segments)) }
        return lines
    }

    /// Over the video from its start to its end: done, running, failed and waiting parts.
    func bar(_ segments: [SegmentReport]) -> String {
        let columns = max(10, width - 2)
        guard let start = segments.first?.start.seconds, let end = segments.last?.end.seconds, end > start else {
            return ""
        }
        var cells = [Rank](repeating: .none, count: columns)
        for segment in segments {
            let from = Int((segment.start.seconds - start) / (end - start) * Double(columns))
            let to = Int(((segment.end.seconds - start) / (end - start) * Double(columns)).rounded(.up))
            let rank = Rank(segment.state)
            for cell in max(0, from)..<max(from + 1, min(columns, to)) where cells.indices.contains(cell) {
                cells[cell] = max(cells[cell], rank)
            }
        }
        var text = ""
        var rest = cells[...]
        while let rank = rest.first {
            let run = rest.prefix { $0 == rank }
            text += rank.mark(style, count: run.count)
            rest = rest.dropFirst(run.count)
        }
        return text
    }

    /// What a column shows when several segments fall into it: the worst.
    private enum Rank: Int, Comparable {
        case none, done, pending, running, failed

        init(_ state: SegmentReport.State) {
            switch state {
            case .done: self = .done
            case .pending: self = .pending
            case .running: self = .running
            case .failed: self = .failed
            }
        }

        static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }

        func mark(_ style: TerminalStyle, count: Int) -> String {
            func run(_ unicode: String, _ plain: String) -> String {
                String(repeating: style.isUnicode ? unicode : plain, count: count)
            }
            return switch self {
            case .none: run(" ", " ")
            case .done: run("█", "#")
            case .pending: style.dim(run("·", "."))
            case .running: style.yellow(run("▒", "+"))
            case .failed: style.red(run("x", "x"))
            }
        }
    }

    // MARK: Workers

    private var workerLines: [String] {
        let there = workers.filter { $0.state.isThere }.sorted { ($0.node, $0.slot) < ($1.node, $1.slot) }
        guard !there.isEmpty else { return ["no slots: start `weft worker` somewhere"] }
        var table = TextTable([
            .init("node"), .init("slot", .right), .init("state"), .init("job"), .init("seg", .right),
            .init("fps", .right),
            .init("x", .right), .init("read/dec/filt/enc/send %"), .init("fail", .right),
        ])
        for row in there {
            table.add([
                String(row.node.prefix(20)), "\(row.slot)", row.state.rawValue, row.job ?? "",
                row.segment.map { "\($0)" } ?? "", row.fps > 0 ? Wording.decimal(row.fps, 0) : "",
                row.realtime > 0 ? Wording.decimal(row.realtime, 1) : "", Self.shares(row.stageSeconds),
                row.failures > 0 ? "\(row.failures)" : "",
            ])
        }
        return table.text.split(separator: "\n").map(String.init)
    }

    private static func shares(_ stages: StageSeconds) -> String {
        let parts = [stages.read, stages.decode, stages.filter, stages.encode, stages.send]
        let total = parts.reduce(0, +)
        guard total > 0 else { return "" }
        return parts.map { Wording.decimal($0 / total * 100, 0) }.joined(separator: "/")
    }

    /// Cuts at the terminal's width, escape sequences not counted.
    private func clip(_ line: String) -> String {
        var shown = 0
        var isEscape = false
        var text = ""
        for character in line {
            if character == "\u{1B}" { isEscape = true }
            if !isEscape {
                guard shown < width else { continue }
                shown += 1
            }
            text.append(character)
            if isEscape, character == "m" { isEscape = false }
        }
        return text
    }
}

extension WorkerReport.State {
    /// It is connected.
    var isThere: Bool { self != .lost && self != .left }
}
