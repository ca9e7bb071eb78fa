package import ClusterProtocol
internal import Foundation

/// Workers as jobs of Slurm, through its own programs.
///
/// Its jobs are known by their name and comment, which Slurm keeps: a scaler that was started again finds them. Slurm ends a
/// job (time limit, preemption, scancel) with SIGTERM to every process and SIGKILL after `KillWait` or the partition's
/// `GraceTime`; the worker drains meanwhile and gives back what it cannot finish.
package struct SlurmEngine: PlacementEngine {
    package struct Options: Hashable, Sendable {
        package var partition: String?
        /// Handed to sbatch as they are.
        package var extra: [String]

        package init(partition: String? = nil, extra: [String] = []) {
            self.partition = partition
            self.extra = extra
        }
    }

    private let order: WorkerOrder
    private let options: Options

    static let jobName = "weft-worker"

    package init(_ order: WorkerOrder, options: Options) {
        self.order = order
        self.options = options
    }

    private var comment: String { "weft " + order.coordinator }

    // MARK: Looking

    /// Id, state, name, and last the comment: its text is free.
    static let fields = "%A|%T|%j|%k"

    package func workers() throws(Failure) -> [PlacedWorker] {
        let text = try SlurmProgram.run(
            "squeue", ["--noheader", "--me", "--name", Self.jobName, "--format", Self.fields])
        return Self.workers(in: text, comment: comment)
    }

    /// The lines of squeue that are workers of the coordinator which `comment` names.
    static func workers(in text: String, comment: String) -> [PlacedWorker] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            let words = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
            guard words.count == 4, words[2] == jobName, words[3] == comment,
                !words[0].isEmpty, words[0].allSatisfy(\.isNumber)
            else { return nil }
            return PlacedWorker(
                id: String(words[0]), node: node(of: String(words[0])), hasStarted: started.contains(words[1]),
                isEnding: ending.contains(words[1]))
        }
    }

    /// squeue(1), JOB STATE CODES. Everything else waits: PENDING, REQUEUED, CONFIGURING, SUSPENDED…
    private static let started: Set<Substring> = ["RUNNING", "SIGNALING", "STAGE_OUT"]
    private static let ending: Set<Substring> = [
        "COMPLETING", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE",
        "OUT_OF_MEMORY", "REVOKED",
    ]

    private static func node(of id: String) -> String { "slurm-" + id }

    // MARK: Acting

    package func submit(_ count: Int) throws(Failure) -> [String] {
        var ids: [String] = []
        for _ in 0..<max(0, count) {
            let text = try SlurmProgram.run("sbatch", arguments, input: script)
            // "id" or "id;cluster" (sbatch(1), --parsable).
            let id = text.split(whereSeparator: \.isNewline).last.map { $0.prefix { $0.isNumber } } ?? ""
            guard !id.isEmpty else {
                throw Failure(
                    .resources, "sbatch gave no job id but: \(text)", advice: "Try the same sbatch by hand.",
                    retry: .retry, fault: .environment, exitCode: .temporary)
            }
            ids.append(String(id))
        }
        return ids
    }

    var arguments: [String] {
        var words = [
            "--parsable", "--job-name", Self.jobName, "--comment", comment, "--ntasks", "1",
            "--cpus-per-task", "\(max(1, order.slots * order.threads))", "--requeue",
            // Before the time limit; and with PreemptParameters=send_user_signal also when preempted with a GraceTime.
            "--signal", "B:TERM@\(order.drainSeconds + 30)",
            "--output", "weft-worker-%j.log", "--open-mode", "append",
        ]
        if let partition = options.partition { words += ["--partition", partition] }
        return words + options.extra
    }

    /// `exec`: Slurm's signals reach the worker itself.
    var script: String {
        "#!/bin/sh\nexec " + order.commandLine(name: "\"slurm-$SLURM_JOB_ID\"") + "\n"
    }

    package func cancel(_ ids: [String]) throws(Failure) {
        guard !ids.isEmpty else { return }
        // Quiet: a job that has ended meanwhile is what was wanted.
        _ = try SlurmProgram.run("scancel", ["--quiet"] + ids)
    }
}

/// Runs Slurm's programs and turns what they complain of into failures.
enum SlurmProgram {
    /// Seconds; slurmctld may be busy, or gone.
    private static let limit = 60.0

    static func run(_ name: String, _ arguments: [String], input: String = "") throws(Failure) -> String {
        let outcome: Outcome
        do {
            outcome = try launch(name, arguments, input)
        } catch {
            throw Failure(
                .resources, "\(name) cannot be started: \(error.localizedDescription)",
                advice: "Run this where Slurm's programs are on PATH, such as its login node.", fault: .environment,
                exitCode: .badConfiguration)
        }
        // env(1) says 127 for a program that is not there.
        if outcome.code == 127 {
            throw Failure(
                .resources, "There is no \(name) here.",
                advice: "Run this where Slurm's programs are on PATH, such as its login node.", fault: .environment,
                exitCode: .badConfiguration)
        }
        guard outcome.code == 0 else {
            let lines = outcome.errors.split(whereSeparator: \.isNewline).map(String.init).suffix(8)
            let words = lines.last ?? (outcome.isKilled ? "no answer within \(Int(limit)) s" : "status \(outcome.code)")
            throw Failure(
                .resources, "\(name) did not do it: \(words)",
                advice: "Check the partition, the limits of your account, and that slurmctld answers (`sinfo`).",
                retry: .retry, fault: .environment, code: outcome.code, log: Array(lines), exitCode: .temporary)
        }
        return outcome.output
    }

    private struct Outcome {
        var code: Int32
        var isKilled: Bool
        var output: String
        var errors: String
    }

    private static func launch(_ name: String, _ arguments: [String], _ input: String) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let watchdog = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: watchdog)
        // A script is far smaller than a pipe, so this does not wait.
        standardInput.fileHandleForWriting.write(Data(input.utf8))
        try? standardInput.fileHandleForWriting.close()
        let collected = Collected()
        let read = DispatchSemaphore(value: 0)
        let thread = Thread {
            collected.data = errors.fileHandleForReading.readDataToEndOfFile()
            read.signal()
        }
        thread.start()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        read.wait()
        process.waitUntilExit()
        watchdog.cancel()
        return Outcome(
            code: process.terminationStatus, isKilled: process.terminationReason == .uncaughtSignal,
            output: String(decoding: text, as: UTF8.self), errors: String(decoding: collected.data, as: UTF8.self))
    }

    /// Written by one thread, read after it has signalled.
    private final class Collected: @unchecked Sendable { var data = Data() }
}
