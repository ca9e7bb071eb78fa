internal import ClusterProtocol
internal import Foundation

/// The checks of returned segments: a few processes on the coordinator's machine, each with a thread that waits for it.
final class SegmentChecks: @unchecked Sendable {
    private struct Work {
        var request: CheckRequest
        var done: @Sendable (CheckVerdict) -> Void
    }

    let level: SegmentChecking
    private let executable: String
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var queue: [Work] = []
    private var isClosed = false
    private var running: Set<pid_t> = []
    private var threads = 0

    private let processes: Int

    /// Half of the machine: others may work here, too.
    static var defaultProcesses: Int { max(1, min(16, ProcessInfo.processInfo.activeProcessorCount / 2)) }

    init(level: SegmentChecking, processes: Int, executable: String) {
        self.processes = processes
        self.level = level
        self.executable = executable
    }

    /// - Parameter done: called on another thread; not at all once it is closed.
    func examine(_ request: CheckRequest, _ done: @escaping @Sendable (CheckVerdict) -> Void) {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return }
        queue.append(Work(request: request, done: done))
        condition.signal()
        guard threads < processes, threads < queue.count + running.count else { return }
        threads += 1
        let thread = Thread { [self] in serve() }
        thread.name = "weft-check"
        thread.start()
    }

    private func serve() {
        var process: CheckProcess?
        while let work = take() {
            let verdict = answer(work.request, &process)
            condition.lock()
            let isWanted = !isClosed
            condition.unlock()
            if isWanted { work.done(verdict) }
        }
        process?.stop()
    }

    private func take() -> Work? {
        condition.lock()
        defer { condition.unlock() }
        while queue.isEmpty, !isClosed { condition.wait() }
        return isClosed ? nil : queue.removeFirst()
    }

    private func answer(_ request: CheckRequest, _ process: inout CheckProcess?) -> CheckVerdict {
        let current: CheckProcess
        do throws(Failure) {
            if let process { current = process } else { current = try CheckProcess(executable: executable) }
        } catch {
            return CheckVerdict(finding: .unable, reason: error.message)
        }
        process = current
        note(current.pid, isRunning: true)
        defer { note(current.pid, isRunning: false) }
        do throws(CheckProcess.End) {
            return try current.examine(request)
        } catch {
            process = nil
            current.stop()
            return CheckVerdict(finding: .doubtful, reason: "The process that decoded it \(error.words).")
        }
    }

    private func note(_ pid: pid_t, isRunning: Bool) {
        condition.lock()
        if isRunning { running.insert(pid) } else { running.remove(pid) }
        if isClosed, isRunning { kill(pid, SIGKILL) }
        condition.unlock()
    }

    /// Ends what is under way; nobody is told any more.
    func close() {
        condition.lock()
        isClosed = true
        queue.removeAll()
        for pid in running { kill(pid, SIGKILL) }
        condition.broadcast()
        condition.unlock()
    }
}
