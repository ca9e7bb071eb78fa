internal import ClusterProtocol
internal import Coordinator
internal import Foundation

/// `weft top`.
enum TopCommand {
    static let entry = CommandEntry(
        name: "top",
        summary: "Watch a cluster at work",
        details: """
            A live view: jobs with a bar over their video (done, running, failed and waiting parts), and for every slot its \
            speed and where its time goes. Ctrl-C ends it. Without a terminal it prints once; with --json a line each second.
            """,
        options: ClusterRequest.options + [
            OptionEntry(name: "once", help: "Print once and end.", isSetting: false), OptionTable.json,
        ],
        examples: [.init(line: "weft top --coordinator tcp://10.0.0.1:7733", meaning: "from anywhere")],
        run: run)

    private struct Picture: Encodable, Sendable {
        var jobs: [JobReport]
        var workers: [WorkerReport]
    }

    private static let run: @Sendable (Invocation) async throws -> ExitCode = { invocation in
        let style = TerminalStyle(isTerminal: StandardStream.output.isTerminal, environment: invocation.environment)
        let isJSON = invocation.has("json")
        let isOnce = invocation.has("once") || (!isJSON && !style.isLive)
        let interruption = Interruption.install()
        try await ClusterRequest(invocation).withClient { (client) throws(Failure) in
            if style.isLive, !isOnce, !isJSON { StandardStream.output.write(Screen.enter) }
            defer { if style.isLive, !isOnce, !isJSON { StandardStream.output.write(Screen.leave) } }
            repeat {
                let picture = Picture(jobs: try client.jobs(), workers: try client.workers())
                if isJSON {
                    StandardStream.output.write(JSONOutput.line(picture))
                } else {
                    try draw(picture, client, style, isLive: !isOnce)
                }
                for _ in 0..<10 where !isOnce && !interruption.isRequested { Thread.sleep(forTimeInterval: 0.1) }
            } while !isOnce && !interruption.isRequested
        }
        return .done
    }

    /// Jobs that get a bar: asking for every segment of every job would cost the coordinator more than the view is worth.
    private static let barLimit = 3

    private static func draw(
        _ picture: Picture, _ client: CoordinatorClient, _ style: TerminalStyle, isLive: Bool
    ) throws(Failure) {
        var segments: [String: [SegmentReport]] = [:]
        for job in picture.jobs.filter({ !$0.state.isOver && $0.segments > 0 }).prefix(barLimit) {
            segments[job.job] = try client.segments(job.job, failed: false)
        }
        let size = Screen.size
        let view = TopView(
            jobs: picture.jobs, workers: picture.workers, segments: segments, style: style, width: size.width,
            height: isLive ? size.height - 1 : 1000)
        guard isLive else {
            return StandardStream.output.write(view.lines.map { $0 + "\n" }.joined())
        }
        StandardStream.output.write(
            Screen.home + view.lines.map { $0 + Screen.clearLine + "\n" }.joined() + Screen.clearRest)
    }

    /// Control sequences (ECMA-48, and xterm's alternate screen).
    private enum Screen {
        static let enter = "\u{1B}[?1049h\u{1B}[?25l"
        static let leave = "\u{1B}[?25h\u{1B}[?1049l"
        static let home = "\u{1B}[H"
        static let clearLine = "\u{1B}[K"
        static let clearRest = "\u{1B}[J"

        static var size: (width: Int, height: Int) {
            var size = winsize()
            guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 3 else { return (80, 24) }
            return (Int(size.ws_col), Int(size.ws_row))
        }
    }
}
