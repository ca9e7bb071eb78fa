internal import ClusterProtocol
internal import Foundation

/// Jobs, segments, workers and events as people read them.
enum JobTables {
    static func jobs(_ rows: [JobReport]) -> String {
        guard !rows.isEmpty else { return "no jobs\n" }
        var table = TextTable([
            .init("job"), .init("state"), .init("segments", .right), .init("fps", .right), .init("left", .right),
            .init("spool", .right), .init("output"),
        ])
        for row in rows {
            let failed = row.segmentsFailed > 0 ? " (\(row.segmentsFailed) failed)" : ""
            table.add([
                row.job, row.state.rawValue, "\(row.segmentsDone)/\(row.segments)\(failed)",
                row.fps > 0 ? Wording.decimal(row.fps, 1) : "", row.etaSeconds.map { Wording.clock($0) } ?? "",
                spool(row), row.output,
            ])
        }
        let holding = rows.filter { $0.spoolBytes > 0 }
        guard holding.count > 1 else { return table.text }
        let total = holding.reduce(Int64(0)) { $0 + $1.spoolBytes }
        return table.text + "The spools of \(holding.count) jobs hold \(Wording.bytes(total)).\n"
    }

    private static func spool(_ row: JobReport) -> String {
        row.spoolBytes > 0 ? Wording.bytes(row.spoolBytes) : row.spoolCleaned ? "cleaned" : ""
    }

    static func job(_ row: JobReport) -> String {
        var lines = ["job       \(row.job)", "state     \(row.state.rawValue)", "source    \(row.source)"]
        lines.append("output    \(row.output)")
        let failed = row.segmentsFailed > 0 ? ", \(row.segmentsFailed) failed" : ""
        lines.append("segments  \(row.segmentsDone) of \(row.segments) done\(failed), \(row.attempts) attempts")
        lines.append("frames    \(row.frames), \(Wording.decimal(row.fps, 1)) a second")
        lines.append("time      \(Wording.clock(row.wallSeconds)), \(row.slots) slots")
        if let access = row.sourceAccess { lines.append("access    \(Self.access(access))") }
        if let eta = row.etaSeconds { lines.append("left      \(Wording.clock(eta))") }
        if !spool(row).isEmpty { lines.append("spool     \(spool(row))") }
        if let proof = row.proof { lines.append("proof     \(proof.sentence)") }
        if !row.carried.isEmpty {
            let text = Help.wrap(row.carried.map(\.words).joined(separator: ", "), indent: 10, width: 80)
            let parts = text.split(separator: "\n").map(String.init)
            lines += ["carried   " + (parts.first ?? "").drop { $0 == " " }] + parts.dropFirst()
        }
        lines += row.losses.map { "lost      \($0)" } + row.warnings.map { "note      \($0)" }
        var text = lines.map(TextTable.printable).joined(separator: "\n") + "\n"
        if let failure = row.failure { text += block(failure) }
        return text
    }

    /// `direct a, b · streamed c`.
    private static func access(_ nodes: [String: Lease.Access]) -> String {
        [Lease.Access.direct, .streamed].compactMap { access in
            let names = nodes.filter { $0.value == access }.keys.sorted()
            return names.isEmpty ? nil : "\(access.rawValue) \(names.joined(separator: ", "))"
        }.joined(separator: " · ")
    }

    private static func block(_ failure: Failure) -> String {
        FailureBlock(failure: failure, style: TerminalStyle(isTerminal: false, environment: [:])).text
    }

    static func segments(_ rows: [SegmentReport]) -> String {
        guard !rows.isEmpty else { return "no segments\n" }
        var text = ""
        for row in rows {
            let span =
                "\(Wording.clock(row.start.seconds, decimals: 3)) – \(Wording.clock(row.end.seconds, decimals: 3))"
            let state = row.cleaned ? "\(row.state.rawValue), spool cleaned" : row.state.rawValue
            text += "\(row.index)  \(state)  \(span)  \(Wording.count(row.frames, "frame"))\n"
            for attempt in row.attempts {
                let speed = attempt.fps > 0 ? ", \(Wording.decimal(attempt.fps, 1)) fps" : ""
                text +=
                    "    \(attempt.worker)  \(attempt.state.rawValue)  \(Wording.decimal(attempt.seconds, 1)) s\(speed)\n"
                if let failure = attempt.failure, attempt.state != .superseded {
                    text += "      \(failure.boundary.rawValue): \(TextTable.printable(failure.message))\n"
                    for line in failure.log { text += "      | \(TextTable.printable(line))\n" }
                }
            }
            if let failure = row.failure { text += block(failure) }
        }
        return text
    }

    static func workers(_ rows: [WorkerReport]) -> String {
        guard !rows.isEmpty else { return "no workers\n" }
        var table = TextTable([
            .init("node"), .init("slot", .right), .init("state"), .init("job"), .init("segment", .right),
            .init("encoder"), .init("source"), .init("frames", .right), .init("fps", .right), .init("x", .right),
            .init("failures", .right),
        ])
        for row in rows {
            table.add([
                row.node, "\(row.slot)", row.state.rawValue, row.job ?? "", row.segment.map { "\($0)" } ?? "",
                row.encoder ?? "", row.sourceAccess?.rawValue ?? "", "\(row.frames)", Wording.decimal(row.fps, 1),
                Wording.decimal(row.realtime, 2),
                row.failures > 0 ? "\(row.failures)" : "",
            ])
        }
        // A sentence a node, below the table: it would not fit beside it.
        var text = table.text
        var told: Set<String> = []
        for row in rows {
            guard let note = row.note, told.insert("\(row.node) \(note)").inserted else { continue }
            text += "\(TextTable.printable(row.node)): \(TextTable.printable(note))\n"
        }
        return text
    }

    static func event(_ row: EventReport) -> String {
        let time = Date(timeIntervalSince1970: row.time).ISO8601Format()
        let worker = row.node.map { node in row.slot.map { "\(node)/\($0)" } ?? node }
        let place = [row.job, row.segment.map { "segment \($0)" }, worker].compactMap { $0 }.joined(separator: " ")
        return "\(time)  \(row.kind)  \(place)  \(TextTable.printable(row.detail))\n"
    }
}
