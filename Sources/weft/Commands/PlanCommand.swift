internal import ClusterProtocol

/// What `weft plan` is asked: an export, but for the doing.
struct PlanRequest: Hashable, Sendable {
    var source: String
    /// An absolute path.
    var destination: String
    /// Somebody named the destination: what stops its export stops the plan.
    var isTargeted = false
    var settings = ExportSettings()
    /// Names of options that somebody stated.
    var stated: Set<String> = []
}

/// `weft plan SRC [DST]`.
enum PlanCommand {
    static let entry = CommandEntry(
        name: "plan",
        summary: "Show the segments a source is cut into, and what is carried",
        details: """
            Finds the keyframes of SRC and shows the segments that an export with the same options encodes, what of SRC would \
            reach DST and how, and what would be lost. DST is not written; without it, a .mp4 is meant. What would stop an export \
            to DST stops the plan, with the same exit code. The plan depends on SRC and these options only, never on who works \
            on it.
            """,
        operands: [
            OperandEntry(name: "SRC", help: "A file or an http(s) URL."),
            OperandEntry(name: "DST", help: "What an export would write.", isOptional: true),
        ],
        options: OptionTable.result + [OptionTable.config, OptionTable.json],
        examples: [
            .init(line: "weft plan film.mp4 --segment-duration 30", meaning: "with segments of about 30 s"),
            .init(line: "weft plan film.mkv film.mp4 --json", meaning: "what an MP4 keeps of it, for programs"),
        ],
        run: { invocation in
            let report = try await SourceEngine.plan(PlanRequest(invocation))
            if invocation.has("json") {
                try JSONOutput.print(report)
            } else {
                StandardStream.output.write(report.text)
            }
            return .done
        })
}

extension PlanRequest {
    init(_ invocation: Invocation) throws {
        let stack = try SettingStack(
            ConfigurationLayers.read(for: invocation, presets: PresetLibrary(environment: invocation.environment)))
        let reader = SettingReader(layer: stack.merged, command: invocation.command.name)
        try reader.checkConflicts()
        source = ExportRequest.location(invocation.operands[0])
        let named = invocation.operands.count > 1 ? invocation.operands[1] : nil
        // ProRes has no place in an MP4.
        let usual = reader.text("video-codec") == "prores" ? "plan.mov" : "plan.mp4"
        destination = ExportRequest.location(named ?? usual)
        isTargeted = named != nil
        settings = try reader.exportSettings(destination: destination)
        stated = Set(stack.merged.values.keys)
    }
}
