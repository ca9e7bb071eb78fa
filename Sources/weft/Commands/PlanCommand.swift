internal import ClusterProtocol
internal import MediaTime
internal import SegmentPlan

/// What `weft plan` is asked.
struct PlanRequest: Hashable, Sendable {
    var source: String
    /// `nil` for the default of 10 s.
    var segmentDuration: MediaTime?
    var start: MediaTime?
    var end: MediaTime?
    var longGroups = LongGroupSplitting.auto
    /// Encoding costs decide whether a long group is cut inside.
    var videoCodec = ExportSettings.VideoCodec.h264
    var encoder = "auto"
    var encoderOptions: [String: String] = [:]
}

/// `weft plan SRC`.
enum PlanCommand {
    static let entry = CommandEntry(
        name: "plan",
        summary: "Show the segments a source is cut into",
        details: """
            Finds the keyframes of SRC and shows the segments that an export with the same options encodes. The plan depends \
            on the source and these options only, never on who works on it.
            """,
        operands: [OperandEntry(name: "SRC", help: "A file or an http(s) URL.")],
        options: [
            OptionTable.segmentDuration, OptionTable.start, OptionTable.end, OptionTable.config, OptionTable.json,
        ]
            + OptionTable.result.filter {
                ["split-long-gops", "video-codec", "encoder", "encoder-option"].contains($0.name)
            },
        examples: [.init(line: "weft plan film.mp4 --segment-duration 30", meaning: "with segments of about 30 s")],
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
        let layers = try ConfigurationLayers.read(
            for: invocation, presets: PresetLibrary(environment: invocation.environment))
        let reader = SettingReader(layer: SettingStack(layers).merged, command: invocation.command.name)
        source = ExportRequest.location(invocation.operands[0])
        segmentDuration = try reader.segmentDuration()
        start = try reader.time("start")
        end = try reader.time("end")
        let settings = try reader.exportSettings(destination: "")
        (longGroups, videoCodec) = (settings.longGroups, settings.videoCodec)
        (encoder, encoderOptions) = (settings.encoder, settings.encoderOptions)
        if let start, let end, end <= start { throw reader.complaint("end", "is not after --start.") }
    }
}
