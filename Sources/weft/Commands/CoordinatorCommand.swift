internal import ClusterProtocol
internal import Coordinator
internal import Foundation
internal import Synchronization

/// `weft coordinator`.
enum CoordinatorCommand {
    static let entry = CommandEntry(
        name: "coordinator",
        summary: "Lead a cluster: take jobs, lease segments to workers, stitch",
        details: """
            Takes jobs from `weft submit`, leases their segments to the slots of every `weft worker` that connects, and stitches \
            and proves the outputs. State is kept: after a crash or a restart jobs go on, and finished segments are not \
            encoded again.

            Finished segments are kept in the spool for a while after their job's end, so that `weft retry --segment` can \
            rerun some and `weft segments --extract` show them; `weft jobs` says how much space that takes. Above \
            --spool-limit done jobs' spools go first, then cancelled ones', the oldest before others. A job at work never \
            loses its spool, nor does a failed one within its time.

            It listens on loopback unless told otherwise. Where other machines can connect it asks for keys (`weft keys`), \
            unless --insecure says that the network is trusted.
            """,
        options: [
            OptionEntry(
                name: "listen", letter: "l", value: "URL",
                help:
                    "Listen at tcp://HOST:PORT or ipc://PATH. Repeatable. Default \(CoordinatorClient.defaultAddress).",
                isRepeatable: true),
            OptionEntry(
                name: "state", value: "DIR", help: "Jobs, spools and keys. Default $XDG_STATE_HOME/weft.",
                completion: .directory),
            OptionEntry(
                name: "root", letter: "r", value: "DIR",
                help: "Jobs may name files under DIR only (or sources below an http URL). Repeatable.",
                completion: .directory, isRepeatable: true),
            OptionEntry(name: "insecure", help: "Ask for no keys, even where other machines can connect."),
            OptionEntry(name: "require-keys", help: "Ask for keys on loopback, too."),
            OptionEntry(
                name: "check-segments", value: "HOW",
                help:
                    "How what workers return is looked at, on this machine, before it counts: none, decode (each sample gives its picture), "
                    + "compare (and the picture is like the source's; what is not is encoded again here and compared byte for byte), encode "
                    + "(everything is). Default compare.",
                completion: .choices(SegmentChecking.allCases.map(\.rawValue))),
            OptionEntry(
                name: "check-processes", value: "N",
                help: "Look at so many segments at a time. Default: half of this machine's cores."),
            OptionEntry(
                name: "spool-keep", value: "TIME",
                help:
                    "Keep the finished segments of done and cancelled jobs for so long (24h, 7d, 0, forever). Default 24h."
            ),
            OptionEntry(
                name: "spool-keep-failed", value: "TIME",
                help: "Keep those of failed jobs for so long, for `weft retry`. Default 30d."),
            OptionEntry(
                name: "spool-limit", value: "BYTES",
                help: "Above so much in all spools (500GB) those of done jobs go before their time. Default: no limit."),
            OptionTable.config,
            OptionTable.json,
        ],
        examples: [
            .init(line: "weft coordinator --root /media", meaning: "for this machine"),
            .init(
                line: "weft coordinator --listen tcp://10.0.0.1:7733 --root /media",
                meaning: "for a network; makes no sense before `weft keys new`"),
        ],
        run: run)

    private static let run: @Sendable (Invocation) async throws -> ExitCode = { invocation in
        let reader = try ClusterRequest.reader(invocation)
        let state = ExportRequest.location(
            reader.text("state") ?? ExportRequest.defaultStateDirectory(invocation.environment))
        let addresses = try (reader.layer.values["listen"] ?? [CoordinatorClient.defaultAddress])
            .map { try address($0, reader) }
        let roots = reader.layer.values["root"] ?? []
        let (isInsecure, requiresKeys) = (reader.isOn("insecure"), reader.isOn("require-keys"))
        let checking = try checking(reader)
        let checkProcesses = try reader.count("check-processes", in: 1...1024)
        let executable = try ExportEngine.executablePath()
        let spools = try spoolPolicy(reader)
        let interruption = Interruption.install()
        let service = try await BlockingThread.run("coordinator") { () throws(Failure) in
            try CoordinatorService(
                .init(
                    addresses: addresses, stateDirectory: state, roots: try Roots(roots), isInsecure: isInsecure,
                    requiresKeys: requiresKeys, spools: spools, checking: checking, executable: executable,
                    checkProcesses: checkProcesses))
        }
        for note in service.notes { StandardStream.error.write("weft: \(note)\n") }
        StandardStream.error.write("weft: listening at \(service.addresses.joined(separator: " and "))\n")
        if invocation.has("json") { try JSONOutput.print(Listening(listening: service.addresses, state: state)) }
        let notifier = ServiceNotifier(environment: invocation.environment)
        notifier.ready()
        notifier.status("listening at \(service.addresses.joined(separator: " and "))")
        // An answer is a beat: a coordinator that hangs is started again, and goes on from its state.
        let beats = Atomic<Int>(0)
        notifier.watch { service.answers(within: 5) ? beats.wrappingAdd(1, ordering: .relaxed).newValue : nil }
        await withCheckedContinuation { continuation in interruption.onRequest { continuation.resume() } }
        notifier.stopping("writing the state")
        await BlockingThread.run("coordinator") { service.stop() }
        StandardStream.error.write("weft: stopped; unfinished jobs go on with the next start\n")
        return .done
    }

    private static func checking(_ reader: SettingReader) throws -> SegmentChecking {
        guard let word = reader.text("check-segments") else { return .compare }
        guard let checking = SegmentChecking(rawValue: word) else {
            throw reader.complaint("check-segments", "'\(word)' is none of none, decode, compare, encode.")
        }
        return checking
    }

    private static func spoolPolicy(_ reader: SettingReader) throws -> SpoolPolicy {
        var policy = SpoolPolicy()
        policy.keepSeconds = try reader.span("spool-keep") ?? policy.keepSeconds
        policy.keepFailedSeconds = try reader.span("spool-keep-failed") ?? policy.keepFailedSeconds
        policy.limit = try reader.size("spool-limit")
        return policy
    }

    private struct Listening: Encodable {
        var listening: [String]
        var state: String
    }

    /// A port of 0 takes a free one.
    private static func address(_ text: String, _ reader: SettingReader) throws -> String {
        guard text.hasPrefix("tcp://") || text.hasPrefix("ipc://") else {
            throw reader.complaint("listen", "'\(text)' is neither tcp://HOST:PORT nor ipc://PATH.")
        }
        return text.hasPrefix("tcp://") && text.hasSuffix(":0") ? text.dropLast() + "*" : text
    }
}
