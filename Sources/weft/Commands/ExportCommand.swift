internal import ClusterProtocol
internal import Foundation

/// `weft export SRC DST`.
enum ExportCommand {
    static let entry = CommandEntry(
        name: "export",
        summary: "Encode a video over several slots, and prove the result",
        details: """
            Plans segments at the keyframes of SRC, encodes them on slots of this machine, stitches the samples that come \
            back into DST and compares every timestamp with the source. The result is the same for any number of slots.

            The extension of DST decides the container: mp4, mov, mkv, webm or ts. Ctrl-C once stops cleanly and keeps the \
            finished segments: the same command with --resume goes on. Ctrl-C twice stops at once.
            """,
        operands: [
            OperandEntry(name: "SRC", help: "The source: a file or an http(s) URL."),
            OperandEntry(name: "DST", help: "The file to write."),
        ],
        options: OptionTable.result + work + output,
        examples: [
            .init(line: "weft export film.mov film.mp4", meaning: "H.264 with the encoder's default quality"),
            .init(
                line: "weft export film.mov film.mp4 --preset web-h264 --quality 20",
                meaning: "a preset, one setting changed"),
            .init(
                line: "weft export film.mkv clip.mkv -c av1 --audio opus --start 1:30 --end 2:00",
                meaning: "half a minute as AV1 with Opus"),
        ],
        run: run)

    private static let work: [OptionEntry] = [
        OptionEntry(
            name: "workers", letter: "w", value: "N",
            help: "Slots on this machine. Default: as many as its cores and memory carry."),
        OptionEntry(
            name: "threads", letter: "t", value: "N",
            help:
                "Encoder threads of a slot. Default: a constant of encoder and frame size. It is part of what comes out."
        ),
        OptionEntry(
            name: "stall-limit", value: "SECONDS",
            help: "Take a slot for hung when it makes no new frame for this long. Default 60."),
        OptionEntry(name: "overwrite", letter: "y", help: "Replace DST if it exists."),
        OptionEntry(name: "resume", help: "Go on with what an interrupted run of this command has finished."),
        OptionEntry(
            name: "state", value: "DIR", help: "Where unfinished work is kept. Default $XDG_STATE_HOME/weft.",
            completion: .directory),
        OptionTable.config,
        OptionEntry(
            name: "coordinator", value: "URL",
            help: "Let this coordinator do the work instead; SRC and DST are paths on its machine."),
        OptionEntry(name: "key", value: "FILE", help: "The key to show the coordinator.", completion: .file),
    ]

    private static let output: [OptionEntry] = [
        OptionEntry(
            name: "report", value: "FILE", help: "Write the account of the job (JSON) to FILE.", group: .output,
            completion: .file),
        OptionTable.json,
        OptionEntry(name: "quiet", help: "Show no progress and no summary.", group: .output),
    ]

    private static let run: @Sendable (Invocation) async throws -> ExitCode = { invocation in
        let request = try ExportRequest(invocation)
        if let path = request.reportPath { try JSONOutput.check(path) }
        // A variable says where a coordinator is, not that every export is for it.
        if invocation.has("coordinator") { return try await submit(request, invocation) }
        let style = TerminalStyle(isTerminal: StandardStream.error.isTerminal, environment: invocation.environment)
        let report = try await export(request, style: style)
        if let path = request.reportPath { try JSONOutput.write(report, to: path) }
        if request.json { try JSONOutput.print(report) }
        if !request.quiet {
            let size = try? FileManager.default.attributesOfItem(atPath: request.destination)[.size] as? Int64
            StandardStream.error.write(report.summary(bytes: size, width: StandardStream.error.width))
        }
        return report.proof?.pass == true ? .done : .jobFailed
    }

    /// The same as `weft submit --wait`.
    private static func submit(_ request: ExportRequest, _ invocation: Invocation) async throws -> ExitCode {
        let cluster = try ClusterRequest(invocation)
        let job = try await JobWatch.submit(request, to: cluster, priority: 0)
        let report = try await JobWatch.wait(for: job, at: cluster, isQuiet: request.quiet, invocation)
        return try JobWatch.conclude(report, request, environment: invocation.environment)
    }

    private static func export(_ request: ExportRequest, style: TerminalStyle) async throws -> JobReport {
        let interruption = Interruption.install()
        let display = ProgressDisplay(style: style, isQuiet: request.quiet)
        display.start()
        defer { display.finish() }
        for note in request.notes { display.notice(note) }
        interruption.onRequest { display.notice("stopping; finished segments are kept. Ctrl-C again stops at once.") }
        return try await ExportEngine.run(request, interruption: interruption) { display.handle($0) }
    }
}
