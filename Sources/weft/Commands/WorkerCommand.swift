internal import ClusterProtocol
internal import Foundation
internal import Worker

/// `weft worker`.
enum WorkerCommand {
    static let entry = CommandEntry(
        name: "worker",
        summary: "Give this machine's slots to a coordinator",
        details: """
            Runs slots, one process each, that encode the segments a coordinator leases them. Sources must be there under the \
            path or URL that the job names. Ctrl-C or SIGTERM once finishes the leases at hand and leaves; twice leaves at once, \
            and what was at work is encoded elsewhere.
            """,
        options: ClusterRequest.options + [
            OptionEntry(name: "slots", letter: "s", value: "N", help: "Default: cores ÷ threads."),
            OptionEntry(name: "name", letter: "n", value: "NODE", help: "Name in the cluster. Default: the host's."),
            OptionEntry(
                name: "threads", letter: "t", value: "N", help: "Encoder threads that a slot may use. Default 1."),
            OptionEntry(
                name: "drain-timeout", value: "SECONDS",
                help:
                    "Leave at the latest this long after the first SIGTERM, and give leases back that are not done by then."
            ),
        ],
        examples: [
            .init(
                line: "weft worker --coordinator tcp://10.0.0.1:7733 --key node7.key", meaning: "with every core")
        ],
        run: run)

    private static let run: @Sendable (Invocation) async throws -> ExitCode = { invocation in
        let reader = try ClusterRequest.reader(invocation)
        let request = ClusterRequest(reader)
        let threads = try reader.count("threads", in: 1...1024) ?? 1
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let slots = try reader.count("slots", in: 1...1024) ?? max(1, cores / threads)
        let name = reader.text("name") ?? ProcessInfo.processInfo.hostName
        guard (1...255).contains(name.utf8.count), !name.contains("/"), !name.contains(where: \.isWhitespace) else {
            throw reader.complaint("name", "'\(name)' is no name: no blanks, no slashes, at most 255 bytes.")
        }
        let drainSeconds = try reader.number("drain-timeout", in: 0...86_400)
        let security = try request.keyFile.map { try ClusterKey.security($0) }
        let notifier = ServiceNotifier(environment: invocation.environment)
        let service = NodeService(
            .init(
                supervisor: .init(
                    executable: try ExportEngine.executablePath(), endpoint: request.address, node: name, slots: slots,
                    threads: threads, keyFile: request.keyFile), security: security, drainSeconds: drainSeconds)
        ) { words in
            StandardStream.error.write("weft: \(words)\n")
            notifier.status(words)
        }
        let interruption = Interruption.install()
        interruption.onRequest {
            StandardStream.error.write("weft: finishing the leases at hand; again to leave at once\n")
            notifier.stopping("finishing the leases at hand")
            service.drain()
        }
        notifier.watch { service.pulse }
        try await BlockingThread.run("node") { () throws(Failure) in try service.run { notifier.ready() } }
        StandardStream.error.write("weft: left the cluster\n")
        return .done
    }
}
