internal import ClusterProtocol

/// `weft probe SRC`.
enum ProbeCommand {
    static let entry = CommandEntry(
        name: "probe",
        summary: "Show what a source holds",
        details: "Opens SRC and shows its tracks, chapters, tags and side data.",
        operands: [OperandEntry(name: "SRC", help: "A file or an http(s) URL.")],
        options: [OptionTable.json],
        examples: [.init(line: "weft probe film.mkv --json", meaning: "for a program")],
        run: { invocation in
            let report = try await SourceEngine.probe(ExportRequest.location(invocation.operands[0]))
            if invocation.has("json") {
                try JSONOutput.print(report)
            } else {
                StandardStream.output.write(report.text)
            }
            return .done
        })
}
