internal import ClusterProtocol

/// What `weft verify` is asked.
struct VerifyRequest: Hashable, Sendable {
    var source: String
    var output: String
    /// Whether to decode a window at each join and compare it with the source.
    var full: Bool
}

/// `weft verify SRC DST`: exits 0 when everything holds, 1 when something does not.
enum VerifyCommand {
    static let entry = CommandEntry(
        name: "verify",
        summary: "Compare an output with its source",
        details: """
            Compares the timestamps of every track of DST with those of SRC. With --full it also decodes a window at each \
            join and compares the pictures. Exits 0 when everything holds and 1 when something does not.
            """,
        operands: [
            OperandEntry(name: "SRC", help: "The source."), OperandEntry(name: "DST", help: "What was made of it."),
        ],
        options: [
            OptionEntry(name: "full", help: "Compare the pictures at the joins too.", isSetting: false),
            OptionTable.json,
        ],
        examples: [
            .init(line: "weft verify film.mov film.mp4 --full", meaning: "timestamps, and pictures at the joins")
        ],
        run: { invocation in
            let report = try await SourceEngine.verify(
                VerifyRequest(
                    source: ExportRequest.location(invocation.operands[0]),
                    output: ExportRequest.location(invocation.operands[1]), full: invocation.has("full")))
            if invocation.has("json") {
                try JSONOutput.print(report)
            } else {
                StandardStream.output.write(report.text)
            }
            return report.pass ? .done : .jobFailed
        })
}
