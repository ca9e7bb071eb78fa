internal import ClusterProtocol
internal import Foundation

/// One slot's process with its three pipes.
struct SlotChild {
    let pid: pid_t
    let incarnation: UInt64
    /// Closing it tells the child to end.
    private(set) var input: Int32
    private(set) var status: LinePipe
    private(set) var errors: LinePipe
    let started: UInt64
    /// The last status line and when it, and its `work`, last changed.
    private(set) var lastStatus = SlotStatus(lease: nil, stallSeconds: 0, work: 0)
    private var heard: UInt64
    private var moved: UInt64
    /// The last lines of standard error.
    private(set) var log: [String] = []
    private(set) var wasKilledForStall = false

    /// Seconds without a status line (one is due every half second) before a process is taken for stopped.
    static let silenceSeconds = 10.0

    init(executable: String, arguments: [String], environment: [String: String], incarnation: UInt64) throws(Failure) {
        var pipes: [(read: Int32, write: Int32)] = []
        func closeAll() { for pipe in pipes { close(pipe.read); close(pipe.write) } }
        for _ in 0..<3 {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else {
                let code = errno
                closeAll()
                throw Self.failure("open a pipe", code)
            }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            pipes.append((ends[0], ends[1]))
        }
        var process: pid_t = 0
        let result = ChildProcess.spawn(
            &process, executable, arguments, environment, descriptors: [pipes[0].read, pipes[1].write, pipes[2].write])
        guard result == 0 else {
            closeAll()
            throw Self.failure("start \(executable)", result)
        }
        close(pipes[0].read)
        close(pipes[1].write)
        close(pipes[2].write)
        pid = process
        self.incarnation = incarnation
        input = pipes[0].write
        status = LinePipe(pipes[1].read)
        errors = LinePipe(pipes[2].read)
        started = LeaseGauge.now
        heard = started
        moved = started
    }

    private static func failure(_ doing: String, _ code: Int32) -> Failure {
        Failure(
            .resources, "Cannot \(doing): \(String(cString: strerror(code))).",
            advice: "Use fewer workers, or raise the limit of processes or open files.", retry: .retry,
            fault: .environment, code: code, exitCode: .temporary)
    }

    /// Reads what the child wrote since the last call.
    /// - Returns: what of it is for the log.
    @discardableResult
    mutating func readPipes() -> [SlotNote] {
        var notes: [SlotNote] = []
        for line in status.lines() {
            if let note = SlotNote(line: line[...]) {
                notes.append(note)
                continue
            }
            guard let fresh = SlotStatus(line: line[...]) else { continue }
            heard = LeaseGauge.now
            if fresh.lease != lastStatus.lease || fresh.work != lastStatus.work { moved = heard }
            lastStatus = fresh
        }
        for line in errors.lines() {
            if log.count == 16 { log.removeFirst() }
            log.append(line)
        }
        return notes
    }

    /// Kills the process when it says nothing any more, or works on a lease and gets nowhere.
    mutating func killIfStalled() {
        let now = LeaseGauge.now
        let silent = Double(now &- heard) / 1e9 > Self.silenceSeconds
        let stuck = lastStatus.lease != nil && Double(now &- moved) / 1e9 > max(1, lastStatus.stallSeconds)
        guard silent || stuck else { return }
        wasKilledForStall = true
        kill(pid, SIGKILL)
    }

    /// - Returns: how it ended, once it has; the pipes are closed then.
    mutating func reap() -> ProcessEnd? {
        var code: Int32 = 0
        guard waitpid(pid, &code, WNOHANG) == pid else { return nil }
        readPipes()
        closePipes()
        let signal = code & 0x7F
        let cause: ProcessEnd.Cause = wasKilledForStall ? .stalled : signal == 0 ? .exited : .signalled
        return ProcessEnd(
            incarnation: String(incarnation), cause: cause, code: signal == 0 ? (code >> 8) & 0xFF : signal,
            lease: lastStatus.lease, log: log)
    }

    /// Tells the child to take no further lease.
    func drain() {
        var byte = UInt8(ascii: "d")
        if input >= 0 { _ = write(input, &byte, 1) }
    }

    /// Tells the child to end.
    mutating func release() {
        if input >= 0 { close(input) }
        input = -1
    }

    private mutating func closePipes() {
        release()
        status.close()
        errors.close()
    }
}

/// The reading end of a pipe that carries text lines; bounded, never blocking.
struct LinePipe {
    private(set) var descriptor: Int32
    private var rest: [UInt8] = []
    private static let longestLine = 4096

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        let flags = fcntl(descriptor, F_GETFL)
        if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
    }

    mutating func lines() -> [String] {
        guard descriptor >= 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 4096)
        var lines: [String] = []
        // A child that writes without end must not hold its supervisor here.
        for _ in 0..<64 {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") || rest.count == Self.longestLine {
                    lines.append(String(decoding: rest, as: UTF8.self))
                    rest.removeAll(keepingCapacity: true)
                } else {
                    rest.append(byte)
                }
            }
        }
        return lines
    }

    mutating func close() {
        if descriptor >= 0 { _ = Foundation.close(descriptor) }
        descriptor = -1
    }
}
