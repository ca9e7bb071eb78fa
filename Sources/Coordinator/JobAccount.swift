internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Scheduling

/// What a job's report says of the things that went wrong on its way and were mended: the sentences of the event log that
/// are not everyday's. They come from the log, so a coordinator that was started again tells what happened before.
enum JobAccount {
    /// Kinds of events that a report repeats.
    private static let kinds: Set<String> = [
        "lost", "attempt_failed", "overtaken", "reattached", "reconnected", "recovered", "held", "released_hold",
        "nondeterminism", "barred", "quarantined", "disproved", "confirmed", "unchecked",
    ]
    /// More would hide the rest of the report.
    private static let mostLines = 60

    /// - Returns: `nil` for an event that is not worth a line in the report.
    static func line(_ kind: String, _ detail: EventDetail) -> String? {
        guard kinds.contains(kind) else { return nil }
        let worker = detail.node.map { node in detail.slot.map { "\(node)/\($0)" } ?? node }
        switch (detail.segment, worker) {
        case (let segment?, let worker?): return "Segment \(segment) on \(worker): \(detail.text)"
        case (let segment?, nil): return "Segment \(segment): \(detail.text)"
        case (nil, let worker?): return "\(worker): \(detail.text)"
        case (nil, nil): return detail.text
        }
    }

    /// The lines of what the store has of the job.
    static func lines(of id: JobID, in store: JobStore) throws(JobStoreError) -> [String] {
        var lines: [String] = []
        var last: Int64 = 0
        while true {
            let events = try store.events(of: id, after: last)
            guard let end = events.last?.sequence else { return lines }
            last = end
            for event in events {
                guard let detail = try? event.detail.decoded(as: EventDetail.self) else { continue }
                // What failed before somebody had it run again is answered by that.
                if event.kind == "retried" { lines = [] }
                if let line = line(event.kind, detail) { append(line, to: &lines) }
            }
        }
    }

    /// What happens again and again to one segment takes one line.
    static func append(_ line: String, to lines: inout [String]) {
        if let place = lines.lastIndex(where: { $0 == line || $0.hasPrefix(line + " (") }) {
            let count = lines[place].dropFirst(line.count + 2).prefix(while: \.isNumber)
            lines[place] = "\(line) (\((Int(count) ?? 1) + 1) times)"
        } else if lines.count < mostLines {
            lines.append(lines.count + 1 == mostLines ? "More happened: `weft events` has all of it." : line)
        }
    }
}
