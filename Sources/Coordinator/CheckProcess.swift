internal import ClusterProtocol
internal import Foundation
internal import Worker

/// One checking process and the pipes to it. Used from one thread, which waits for its answers.
final class CheckProcess {
    let pid: pid_t
    private let input: Int32
    private let output: Int32
    private var rest: [UInt8] = []

    /// There was no answer: it ended, or had to be killed.
    struct End: Error {
        /// How, to follow "the process".
        let words: String
    }

    init(executable: String) throws(Failure) {
        var (towards, from): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        var process: pid_t = 0
        guard pipe(&towards) == 0 else { throw Self.failure(errno) }
        guard pipe(&from) == 0 else {
            let code = errno
            for end in towards { close(end) }
            throw Self.failure(code)
        }
        for end in towards + from { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let code = ChildProcess.spawn(
            &process, executable, ["check"], ProcessInfo.processInfo.environment, descriptors: [towards[0], from[1]])
        close(towards[0])
        close(from[1])
        guard code == 0 else {
            close(towards[1])
            close(from[0])
            throw Self.failure(code)
        }
        (pid, input, output) = (process, towards[1], from[0])
    }

    private static func failure(_ code: Int32) -> Failure {
        Failure(
            .resources, "A process that checks segments cannot be started: \(String(cString: strerror(code))).",
            advice: "Raise the limit of processes or open files.", retry: .retry, fault: .environment, code: code,
            exitCode: .temporary)
    }

    func examine(_ request: CheckRequest) throws(End) -> CheckVerdict {
        guard let line = try? JSONEncoder().encode(request) else { throw End(words: "could not be asked") }
        try write(Array(line) + [UInt8(ascii: "\n")])
        while true {
            let answer = try nextLine(within: max(1, request.stallSeconds))
            guard !answer.isEmpty else { continue }
            guard let verdict = try? JSONDecoder().decode(CheckVerdict.self, from: Data(answer)) else {
                throw End(words: "gave no answer that can be read")
            }
            return verdict
        }
    }

    private func write(_ data: [UInt8]) throws(End) {
        var done = 0
        while done < data.count {
            let count = data.withUnsafeBytes {
                Foundation.write(input, $0.baseAddress.map { $0 + done }, data.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw End(words: end()) }
            done += count
        }
    }

    /// An empty line says only that it is at work.
    private func nextLine(within seconds: Double) throws(End) -> [UInt8] {
        while true {
            if let place = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(rest[..<place])
                rest.removeFirst(place + 1)
                return line
            }
            var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let ready = Foundation.poll(&poll, 1, Int32(min(seconds * 1000, 86_400_000)))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else {
                kill(pid, SIGKILL)
                _ = end()
                throw End(words: "hung and was killed")
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0, rest.count < 1 << 20 else { throw End(words: end()) }
            rest += buffer[..<count]
        }
    }

    private var isReaped = false

    /// Waits for its end.
    private func end() -> String {
        guard !isReaped else { return "had ended" }
        isReaped = true
        close(input)
        close(output)
        var code: Int32 = 0
        while waitpid(pid, &code, 0) < 0, errno == EINTR {}
        let signal = code & 0x7F
        return signal == 0 ? "ended with status \((code >> 8) & 0xFF)" : "was ended by signal \(signal)"
    }

    func stop() {
        guard !isReaped else { return }
        kill(pid, SIGKILL)
        _ = end()
    }
}
