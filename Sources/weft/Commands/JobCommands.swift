internal import ClusterProtocol
internal import Foundation

/// `weft jobs`, `job`, `segments`, `workers`: what a coordinator knows.
enum JobCommands {
    private static let jobOperand = OperandEntry(name: "ID", help: "The job.", completion: .nothing)

    static let jobs = CommandEntry(
        name: "jobs", summary: "List a coordinator's jobs",
        details: "Every job in the order of submission, with the space that its finished segments hold.",
        options: ClusterRequest.options + [OptionTable.json],
        examples: [.init(line: "weft jobs --json", meaning: "for a program")],
        run: { invocation in
            let rows = try await ClusterRequest(invocation).withClient { (client) throws(Failure) in try client.jobs() }
            if invocation.has("json") {
                try JSONOutput.print(["jobs": rows])
            } else {
                StandardStream.output.write(JobTables.jobs(rows))
            }
            return .done
        })

    static let job = CommandEntry(
        name: "job", summary: "Show one job", details: "The account of a job, finished or not.",
        operands: [jobOperand], options: ClusterRequest.options + [OptionTable.json],
        examples: [.init(line: "weft job 7kq3mzpd", meaning: "how far it is, or what became of it")],
        run: { invocation in
            let id = try JobName.check(invocation)
            let row = try await ClusterRequest(invocation).withClient { (client) throws(Failure) in try client.job(id) }
            if invocation.has("json") {
                try JSONOutput.print(row)
            } else {
                StandardStream.output.write(JobTables.job(row))
            }
            return .done
        })

    static let segments = CommandEntry(
        name: "segments", summary: "List a job's segments with every try, or take one as a file",
        details: """
            What became of each segment: who tried it, how fast, and where and why it failed.

            With --extract it fetches the picture of one finished segment, without sound and without encoding anything, and \
            writes it to OUT (.mp4, .mov, .mkv, .webm, .ts). It begins at 0. A rotation or HDR marks that the output carries \
            beside its samples are not in it. This needs a client's key; an observer's does not show films.
            """,
        operands: [
            jobOperand,
            OperandEntry(
                name: "OUT", help: "The file for --extract.", completion: .file, isOptional: true),
        ],
        options: [
            OptionEntry(name: "failed", help: "Only those that failed for good.", isSetting: false),
            OptionEntry(
                name: "extract", value: "N", help: "Write segment N to OUT as a playable file.", isSetting: false),
            OptionEntry(name: "overwrite", letter: "y", help: "Replace OUT if it exists."),
        ] + ClusterRequest.options + [OptionTable.json],
        examples: [
            .init(line: "weft segments 7kq3mzpd --failed", meaning: "what to repair before `weft retry`"),
            .init(line: "weft segments 7kq3mzpd --extract 12 part.mp4", meaning: "look at one of them"),
        ],
        run: { invocation in
            let id = try JobName.check(invocation)
            if let extract = try SegmentExtraction(invocation, job: id) { return try await extract.run() }
            let failed = invocation.has("failed")
            let rows = try await ClusterRequest(invocation).withClient { (client) throws(Failure) in
                try client.segments(id, failed: failed)
            }
            if invocation.has("json") {
                try JSONOutput.print(["segments": rows])
            } else {
                StandardStream.output.write(JobTables.segments(rows))
            }
            return .done
        })

    static let workers = CommandEntry(
        name: "workers", summary: "List the slots of a cluster, or let Slurm run as many as there is work for",
        details: """
            Lists every slot that has connected: what it works on, how fast, and where its time goes.

            With `scale` it keeps between --min and --max workers in a batch system: submits some when segments wait, drains \
            those that have nothing to do, and cancels what has not begun. It finds its workers again when it is started anew, \
            and leaves them alone when it ends.

            A node whose work fails again and again gets no more for a while, longer each time, and in the end until somebody \
            says `release NODE`. The list says so beside its slots.
            """,
        operands: [
            OperandEntry(
                name: "ACTION", help: "scale, release, or nothing for the list.",
                completion: .choices(["scale", "release"]), isOptional: true),
            OperandEntry(name: "NODE", help: "release: the node's name.", completion: .nothing, isOptional: true),
        ],
        options: ClusterRequest.options + ScaleCommand.options + [OptionTable.json],
        examples: [
            .init(line: "weft workers", meaning: "who is there"),
            .init(line: "weft workers release node7", meaning: "its memory is replaced: work for it again"),
            .init(
                line: "weft workers scale --engine slurm --min 0 --max 20 --slots 4 --partition idle",
                meaning: "from Slurm's login node"),
        ],
        run: { invocation in
            switch invocation.operands.count {
            case 0: break
            case 1 where invocation.operands[0] == "scale": return try await ScaleCommand.run(invocation)
            case 2 where invocation.operands[0] == "release": return try await ControlCommands.release(invocation)
            default:
                let words = invocation.operands.joined(separator: " ")
                throw UsageError("workers", "'\(words)' is nothing that workers can do: scale, or release NODE.")
            }
            let rows = try await ClusterRequest(invocation).withClient { (client) throws(Failure) in
                try client.workers()
            }
            if invocation.has("json") {
                try JSONOutput.print(["workers": rows])
            } else {
                StandardStream.output.write(JobTables.workers(rows))
            }
            return .done
        })

    static let events = CommandEntry(
        name: "events", summary: "Show what happened",
        details: "The log of a coordinator, or of one job: leases, results, failures, workers that come and go.",
        operands: [OperandEntry(name: "ID", help: "Only this job's.", completion: .nothing, isOptional: true)],
        options: ClusterRequest.options + [
            OptionEntry(name: "after", value: "N", help: "Only events after number N.", isSetting: false),
            OptionEntry(name: "follow", help: "Go on as they happen (with --json one line each).", isSetting: false),
            OptionTable.json,
        ],
        examples: [.init(line: "weft events --follow", meaning: "as it happens")],
        run: runEvents)

    private static let runEvents: @Sendable (Invocation) async throws -> ExitCode = { invocation in
        let id = invocation.operands.isEmpty ? nil : try JobName.check(invocation)
        guard let after = Int64(invocation.value(of: "after") ?? "0"), after >= 0 else {
            throw UsageError("events", "--after is not a number of an event.")
        }
        let isJSON = invocation.has("json")
        let request = try ClusterRequest(invocation)
        if invocation.has("follow") {
            let interruption = Interruption.install()
            try await request.withClient { (client) throws(Failure) in
                let make: (Int) -> ClientRequest = {
                    .query(Query(request: $0, subject: .events, job: id, after: after, follow: true))
                }
                interruption.onRequest { exit(ExitCode.interrupted.rawValue) }
                try client.follow(make) { reply in
                    for row in reply.eventRows {
                        StandardStream.output.write(isJSON ? JSONOutput.line(row) : JobTables.event(row))
                    }
                    return true
                }
            }
            return .done
        }
        let rows = try await request.withClient { (client) throws(Failure) in
            try client.ask { .query(Query(request: $0, subject: .events, job: id, after: after)) }.flatMap(\.eventRows)
        }
        if isJSON {
            try JSONOutput.print(["events": rows])
        } else {
            StandardStream.output.write(rows.map(JobTables.event).joined())
        }
        return .done
    }
}
