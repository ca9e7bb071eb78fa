internal import ClusterProtocol
internal import Coordinator
internal import Foundation

/// `weft check`, started by a coordinator only: one child process that looks at returned segments, one at a time.
enum CheckCommand {
    static let entry = CommandEntry(
        name: "check",
        summary: "Look at returned segments (started by weft itself)",
        details: "Reads one request a line from standard input and answers each with a line.",
        examples: [.init(line: "weft check", meaning: "until its input ends")],
        isHidden: true,
        run: { _ in
            // A terminal or a service manager signals every process at once. When the coordinator is gone, standard input closes.
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
            await BlockingThread.run("check") { SegmentCheckServer.run() }
            return .done
        })
}
