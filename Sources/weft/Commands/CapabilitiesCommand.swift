internal import ClusterProtocol

/// `weft capabilities`.
enum CapabilitiesCommand {
    static let entry = CommandEntry(
        name: "capabilities",
        summary: "Show the encoders that work on this machine",
        details: "Lists the video encoders of this machine's libavcodec, and whether each can really be opened here.",
        options: [
            OptionEntry(
                name: "all", help: "Also show the encoders of codecs that --video-codec does not name.", group: .output),
            OptionTable.json,
        ],
        examples: [
            .init(line: "weft capabilities --all", meaning: "also what only --encoder reaches"),
            .init(line: "weft capabilities --json", meaning: "for a program: every encoder"),
        ],
        run: { invocation in
            let report = try await SourceEngine.capabilities()
            if invocation.has("json") {
                try JSONOutput.print(report)
            } else {
                StandardStream.output.write(report.text(all: invocation.has("all")))
            }
            return .done
        })
}
