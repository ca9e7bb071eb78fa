internal import ClusterProtocol
internal import Coordinator
internal import Foundation

/// `weft submit SRC DST`.
enum SubmitCommand {
    static let entry = CommandEntry(
        name: "submit",
        summary: "Give an export to a coordinator",
        details: """
            The coordinator and the workers open SRC themselves, and the coordinator writes DST: both are paths on its machine. \
            Prints the job's id, and with --wait its report at the end.
            """,
        operands: [
            OperandEntry(name: "SRC", help: "The source: a file or an http(s) URL."),
            OperandEntry(name: "DST", help: "The file to write."),
        ],
        options: OptionTable.result + work + ClusterRequest.options + [
            OptionTable.json,
            OptionEntry(name: "quiet", help: "Show no progress and no summary.", group: .output),
        ],
        examples: [
            .init(line: "weft submit /media/film.mov /media/film.mp4 --quality 20 --wait", meaning: "and wait for it")
        ],
        run: run)

    private static let work: [OptionEntry] = [
        OptionEntry(
            name: "priority", value: "N", help: "Higher goes first, -1000 to 1000. Default 0.", isSetting: false),
        OptionEntry(name: "wait", help: "Wait for the end and print the report.", isSetting: false),
        OptionEntry(
            name: "threads", letter: "t", value: "N", help: "Encoder threads of a slot. Part of what comes out."),
        OptionEntry(
            name: "stall-limit", value: "SECONDS",
            help: "Take a slot for hung when it makes no new frame for this long. Default 60."),
        OptionEntry(name: "overwrite", letter: "y", help: "Replace DST if it exists."),
    ]

    private static let run: @Sendable (Invocation) async throws -> ExitCode = { invocation in
        let request = try ExportRequest(invocation)
        let cluster = try ClusterRequest(invocation)
        let priority = try priority(invocation)
        let job = try await JobWatch.submit(request, to: cluster, priority: priority)
        guard invocation.has("wait") else {
            if request.json { try JSONOutput.print(["job": job]) } else { StandardStream.output.write(job + "\n") }
            return .done
        }
        let report = try await JobWatch.wait(for: job, at: cluster, isQuiet: request.quiet, invocation)
        return try JobWatch.conclude(report, request, environment: invocation.environment)
    }

    private static func priority(_ invocation: Invocation) throws -> Int {
        guard let text = invocation.value(of: "priority") else { return 0 }
        guard let number = Int(text), (-1000...1000).contains(number) else {
            throw UsageError("submit", "--priority: '\(text)' is not a whole number from -1000 to 1000.")
        }
        return number
    }
}
