internal import ClusterProtocol

/// `weft cancel`, `pause`, `resume`, `drain`, `retry`: orders to a coordinator.
enum ControlCommands {
    static let cancel = control(
        .cancel, "End a job",
        "Ends the job's leases. Finished segments are kept for a while (the coordinator's --spool-keep): `weft retry` goes on.",
        done: "is cancelled; finished segments are kept for a while, `weft retry` goes on")
    static let pause = control(
        .pause, "Give a job no new leases", "Running segments finish.",
        done: "is paused; segments that run are finished")
    static let resume = control(
        .resume, "Go on with a paused job", "The opposite of `weft pause`.", done: "goes on")

    static let drain = CommandEntry(
        name: "drain", summary: "Let a node finish and leave",
        details: "The node gets no new leases; its worker ends when those at hand are done.",
        operands: [OperandEntry(name: "NODE", help: "The node's name.", completion: .nothing)],
        options: ClusterRequest.options + [OptionTable.json],
        examples: [.init(line: "weft drain node7", meaning: "before maintenance")],
        run: { invocation in
            let node = invocation.operands[0]
            return try await send(
                invocation, done: "\(node) takes no new leases; it leaves when those at hand are done"
            ) {
                Control(request: $0, action: .drain, target: node)
            }
        })

    /// `weft workers release NODE`.
    static func release(_ invocation: Invocation) async throws -> ExitCode {
        let node = invocation.operands[1]
        return try await send(invocation, done: "\(node) gets work again") {
            Control(request: $0, action: .release, target: node)
        }
    }

    private static func control(
        _ action: Control.Action, _ summary: String, _ details: String, done: String
    ) -> CommandEntry {
        CommandEntry(
            name: action.rawValue, summary: summary, details: details,
            operands: [OperandEntry(name: "ID", help: "The job.", completion: .nothing)],
            options: ClusterRequest.options + [OptionTable.json],
            examples: [.init(line: "weft \(action.rawValue) 7kq3mzpd", meaning: "this job")],
            run: { invocation in
                let id = try JobName.check(invocation)
                return try await send(invocation, done: "\(id) \(done)") {
                    Control(request: $0, action: action, target: id)
                }
            })
    }

    private static func send(
        _ invocation: Invocation, done sentence: String, _ make: @escaping @Sendable (Int) -> Control
    ) async throws -> ExitCode {
        try await ClusterRequest(invocation).withClient { (client) throws(Failure) in
            _ = try client.ask { .control(make($0)) }
        }
        if invocation.has("json") { try JSONOutput.print(["done": true]) }
        StandardStream.error.write("weft: \(sentence)\n")
        return .done
    }

    // MARK: Retry

    static let retry = CommandEntry(
        name: "retry", summary: "Rerun failed segments of a job",
        details: """
            Runs the segments that failed again, keeps the others, and stitches anew. --segment names segments instead, also \
            finished ones. Options of the encoder given here hold for the segments that run again only; an encoder option \
            with an empty value (-o KEY=) takes it away.

            Where the spool was cleaned meanwhile (the coordinator's --spool-keep and --spool-limit), all segments run again \
            as they were made, and --segment is refused.
            """,
        operands: [OperandEntry(name: "ID", help: "The job.", completion: .nothing)],
        options: [
            OptionEntry(
                name: "segment", value: "N", help: "Rerun this segment, finished or not. Repeatable.",
                isRepeatable: true, isSetting: false),
            OptionEntry(name: "on-node", value: "NODE", help: "Only this node may run them.", isSetting: false),
            OptionEntry(name: "wait", help: "Wait for the end and print the report.", isSetting: false),
        ] + settings + ClusterRequest.options + [OptionTable.json],
        examples: [
            .init(line: "weft retry 7kq3mzpd", meaning: "what failed, again"),
            .init(line: "weft retry 7kq3mzpd --segment 12 --quality 16", meaning: "one segment, better"),
        ],
        run: runRetry)

    /// The options of an export that may differ for single segments.
    private static let settings: [OptionEntry] =
        (OptionTable.result + [
            OptionEntry(name: "threads", letter: "t", value: "N", help: "Encoder threads of a slot."),
            OptionEntry(
                name: "stall-limit", value: "SECONDS",
                help: "Take a slot for hung when it makes no new frame for this long."),
        ]).filter { ExportSettings.rerunOptions.contains($0.name) }

    private static let runRetry: @Sendable (Invocation) async throws -> ExitCode = { invocation in
        let id = try JobName.check(invocation)
        let segments = try (invocation.options["segment"] ?? []).map { text in
            guard let number = Quantity.count(text, in: 0...ProtocolLimits.segments) else {
                throw UsageError("retry", "--segment: '\(text)' is not the number of a segment.")
            }
            return number
        }
        // Only what is said here: a variable or a file speaks of new jobs.
        let reader = SettingReader(layer: SettingLayer(flagsOf: invocation), command: "retry")
        try reader.checkConflicts()
        let stated = settings.map(\.name).filter(reader.isOn)
        let fresh = try reader.exportSettings(destination: "")
        let node = invocation.value(of: "on-node")
        let cluster = try ClusterRequest(invocation)
        let replies = try await cluster.withClient { (client) throws(Failure) in
            try client.ask {
                .control(
                    Control(
                        request: $0, action: .retry, target: id, segments: segments,
                        settings: stated.isEmpty ? nil : fresh, stated: stated, node: node))
            }
        }
        let note = replies.compactMap(\.note).first
        if let note { StandardStream.error.write("weft: \(note)\n") }
        guard invocation.has("wait") else {
            if invocation.has("json") {
                try JSONOutput.print(["job": id].merging(note.map { ["note": $0] } ?? [:]) { old, _ in old })
            }
            StandardStream.error.write("weft: \(id) runs again; `weft job \(id)` shows it\n")
            return .done
        }
        let report = try await JobWatch.wait(for: id, at: cluster, isQuiet: false, invocation)
        var request = ExportRequest(stateDirectory: "", destination: report.output)
        request.json = invocation.has("json")
        return try JobWatch.conclude(report, request, environment: invocation.environment)
    }
}

extension ExportRequest {
    /// Only what printing a report needs.
    fileprivate init(stateDirectory: String, destination: String) {
        self.init(source: "", destination: destination, stateDirectory: stateDirectory)
    }
}
