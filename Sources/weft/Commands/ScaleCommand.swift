internal import ClusterProtocol
internal import Coordinator
internal import Foundation
internal import Placement

/// `weft workers scale`: keeps as many workers in a batch system as there is work for.
enum ScaleCommand {
    static let options: [OptionEntry] = [
        OptionEntry(
            name: "engine", value: "NAME", help: "scale: what starts workers. Only slurm.",
            completion: .choices(["slurm"]), isSetting: false),
        OptionEntry(
            name: "min", value: "N", help: "scale: workers that are always there. Default 0.", isSetting: false),
        OptionEntry(name: "max", value: "N", help: "scale: workers at most.", isSetting: false),
        OptionEntry(name: "slots", letter: "s", value: "N", help: "scale: slots of one worker. Default 1."),
        OptionEntry(name: "threads", letter: "t", value: "N", help: "scale: encoder threads of a slot. Default 1."),
        OptionEntry(
            name: "worker-key", value: "FILE", help: "scale: the workers' key, as their machines see it.",
            completion: .file, isSetting: false),
        OptionEntry(
            name: "worker-program", value: "FILE",
            help: "scale: weft as the workers' machines see it. Default this program.", completion: .file,
            isSetting: false),
        OptionEntry(name: "partition", value: "NAME", help: "scale: Slurm's partition.", isSetting: false),
        OptionEntry(
            name: "sbatch", value: "OPTION", help: "scale: hand an option to sbatch (--sbatch=--mem=4G). Repeatable.",
            isRepeatable: true, isSetting: false),
        OptionEntry(
            name: "drain-timeout", value: "SECONDS",
            help: "scale: a worker that is told to go gives back what it has not finished by then. Default 25."),
        OptionEntry(
            name: "idle", value: "SECONDS", help: "scale: a worker goes after this long without work. Default 30.",
            isSetting: false),
        OptionEntry(
            name: "interval", value: "SECONDS", help: "scale: look this often. Default 10.", isSetting: false),
        OptionEntry(name: "once", help: "scale: look once and end, for cron.", isSetting: false),
    ]

    struct Request: Sendable {
        var cluster: ClusterRequest
        var scaling: Scaling
        var engine: any PlacementEngine
        var interval: Double
        var isOnce: Bool
        var isJSON: Bool
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let request = try Request(invocation)
        let interruption = Interruption.install()
        let notifier = ServiceNotifier(environment: invocation.environment)
        notifier.ready()
        var round = ScalingRound(request)
        repeat {
            do {
                let told = try await round.step()
                if request.isJSON {
                    if request.isOnce {
                        try JSONOutput.print(told)
                    } else {
                        StandardStream.output.write(JSONOutput.line(told))
                    }
                } else if !told.isNothing || request.isOnce {
                    StandardStream.error.write("weft: \(told.sentence)\n")
                }
                notifier.status(told.sentence)
            } catch let failure as Failure where !request.isOnce && failure.retry == .retry {
                // Coordinator and Slurm come back; the workers that are there go on meanwhile.
                StandardStream.error.write("weft: \(failure.message) Trying again.\n")
            }
            if request.isOnce { break }
            var waited = 0.0
            while waited < request.interval, !interruption.isRequested {
                try await Task.sleep(for: .milliseconds(100))
                waited += 0.1
            }
        } while !interruption.isRequested
        return .done
    }
}

extension ScaleCommand.Request {
    init(_ invocation: Invocation) throws {
        let reader = try ClusterRequest.reader(invocation)
        func count(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
            guard let text = invocation.value(of: name) else { return nil }
            guard let number = Quantity.count(text, in: range) else {
                throw UsageError(
                    "workers",
                    "--\(name): '\(text)' is not a whole number from \(range.lowerBound) to \(range.upperBound).")
            }
            return number
        }
        guard invocation.value(of: "engine") == "slurm" else {
            throw UsageError("workers", "scale needs --engine slurm.")
        }
        guard let maximum = try count("max", in: 0...10_000) else {
            throw UsageError("workers", "scale needs --max N.")
        }
        let minimum = try count("min", in: 0...10_000) ?? 0
        guard minimum <= maximum else { throw UsageError("workers", "--min is above --max.") }
        isOnce = invocation.has("once")
        isJSON = invocation.has("json")
        interval = Double(try count("interval", in: 1...3600) ?? 10)
        let slots = try reader.count("slots", in: 1...1024) ?? 1
        // Who looks once knows of no time before.
        let idle = isOnce ? 0 : Double(try count("idle", in: 0...86_400) ?? 30)
        cluster = ClusterRequest(reader)
        scaling = Scaling(minimum: minimum, maximum: maximum, slots: slots, idleSeconds: idle)
        let drain = try reader.number("drain-timeout", in: 0...86_400) ?? 25
        engine = SlurmEngine(
            WorkerOrder(
                program: try invocation.value(of: "worker-program") ?? ExportEngine.executablePath(),
                coordinator: cluster.address, keyFile: invocation.value(of: "worker-key").map(ExportRequest.location),
                slots: slots, threads: try reader.count("threads", in: 1...1024) ?? 1, drainSeconds: Int(drain)),
            options: .init(
                partition: invocation.value(of: "partition"), extra: invocation.options["sbatch"] ?? []))
    }
}

/// One look after another at the cluster and the engine, with what has to be done about it.
private struct ScalingRound {
    private let request: ScaleCommand.Request
    /// Since when the nodes have been idle.
    private var idleSince: [String: Date] = [:]

    init(_ request: ScaleCommand.Request) { self.request = request }

    struct Told: Encodable, Sendable {
        var wanted: Int
        var workers: Int
        var waiting: Int
        var running: Int
        var submitted: [String]
        var drained: [String]
        var cancelled: [String]

        var isNothing: Bool { submitted.isEmpty && drained.isEmpty && cancelled.isEmpty }

        var sentence: String {
            var parts = ["\(Wording.count(waiting, "segment")) waiting, \(running) at work"]
            parts.append("\(Wording.count(workers, "worker")), \(wanted) wanted")
            if !submitted.isEmpty { parts.append("submitted " + submitted.joined(separator: " ")) }
            if !drained.isEmpty { parts.append("draining " + drained.joined(separator: " ")) }
            if !cancelled.isEmpty { parts.append("cancelled " + cancelled.joined(separator: " ")) }
            return parts.joined(separator: "; ")
        }
    }

    mutating func step() async throws -> Told {
        let (jobs, slots) = try await request.cluster.withClient { (client) throws(Failure) in
            (try client.jobs(), try client.workers())
        }
        let engine = request.engine
        let placed = try await BlockingThread.run("engine") { () throws(Failure) in try engine.workers() }
        let workers = note(placed, slots)
        let backlog = ClusterBacklog.of(jobs, slots, except: Set(placed.map(\.node)))
        let decision = request.scaling.decide(backlog, workers)
        let nodes = decision.drain.compactMap { id in placed.first { $0.id == id }?.node }
        try await request.cluster.withClient { (client) throws(Failure) in
            for node in nodes {
                _ = try client.ask { .control(Control(request: $0, action: .drain, target: node)) }
            }
        }
        let submitted = try await BlockingThread.run("engine") { () throws(Failure) in
            try engine.cancel(decision.cancel)
            return try engine.submit(decision.submit)
        }
        return Told(
            wanted: request.scaling.wanted(backlog), workers: workers.count, waiting: backlog.waiting,
            running: backlog.running, submitted: submitted, drained: decision.drain, cancelled: decision.cancel)
    }

    /// Joins what the engine and the coordinator know of each worker.
    private mutating func note(_ placed: [PlacedWorker], _ slots: [WorkerReport]) -> [Scaling.Worker] {
        let now = Date()
        let rows = Dictionary(grouping: slots.filter { $0.state.isThere }, by: \.node)
        var idle: [String: Date] = [:]
        let workers = placed.map { worker in
            if worker.isEnding { return Scaling.Worker(id: worker.id, state: .draining) }
            guard worker.hasStarted else { return Scaling.Worker(id: worker.id, state: .queued) }
            let states = (rows[worker.node] ?? []).map(\.state)
            if states.isEmpty {
                // Lost: it is away, perhaps with work. One that said goodbye ends, or comes back after a preemption.
                let isAway = slots.contains { $0.node == worker.node && $0.state == .lost }
                return Scaling.Worker(id: worker.id, state: isAway ? .busy : .connecting)
            }
            if rows[worker.node]?.contains(where: \.isLeaving) == true {
                return Scaling.Worker(id: worker.id, state: .draining)
            }
            if states.contains(.busy) { return Scaling.Worker(id: worker.id, state: .busy) }
            let since = idleSince[worker.id] ?? now
            idle[worker.id] = since
            return Scaling.Worker(id: worker.id, state: .idle(now.timeIntervalSince(since)))
        }
        idleSince = idle
        return workers
    }
}

/// What a coordinator's jobs need.
enum ClusterBacklog {
    /// - Parameter nodes: the names of the workers that are scaled.
    static func of(_ jobs: [JobReport], _ slots: [WorkerReport], except nodes: Set<String>) -> Scaling.Backlog {
        var backlog = Scaling.Backlog()
        backlog.running = slots.count { $0.state == .busy }
        for job in jobs {
            switch job.state {
            // How many segments it has is known when it is planned.
            case .queued, .planning: backlog.waiting += 1
            case .running: backlog.waiting += max(0, job.segments - job.segmentsDone - job.segmentsFailed)
            case .paused, .stitching, .done, .failed, .cancelled: break
            }
        }
        backlog.waiting = max(0, backlog.waiting - backlog.running)
        let foreign = slots.filter { !nodes.contains($0.node) && $0.node.hasPrefix("slurm-") == false }
        backlog.foreignSlots = foreign.count { ($0.state == .busy || $0.state == .idle) && !$0.isLeaving }
        return backlog
    }
}
