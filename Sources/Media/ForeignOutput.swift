internal import Foundation
internal import Synchronization

/// Catches what a codec library writes to standard error past libav's log, as libx264 and SVT-AV1 do when they refuse a
/// setting: it belongs to the error, not between the lines of whoever uses this module.
enum ForeignOutput {
    private static let turn = Mutex(())

    /// Runs `body` while standard error leads to a pipe. What others in the process write there meanwhile is caught too.
    /// - Returns: the lines, at most what a pipe holds; none where the system has no descriptors left.
    static func capture<Value>(_ body: () -> Value) -> (Value, lines: [String]) {
        turn.withLock { _ in
            guard let pipe = Redirection() else { return (body(), []) }
            let value = body()
            return (value, pipe.end())
        }
    }

    private struct Redirection {
        private let saved: Int32
        private let readEnd: Int32

        init?() {
            saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
            guard saved >= 0 else { return nil }
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else {
                close(saved)
                return nil
            }
            readEnd = ends[0]
            // A library that writes more than a pipe holds must not wait for a reader that comes after it.
            for end in ends {
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            }
            let isLed = dup2(ends[1], STDERR_FILENO) >= 0
            close(ends[1])
            guard isLed else {
                close(readEnd)
                close(saved)
                return nil
            }
        }

        func end() -> [String] {
            dup2(saved, STDERR_FILENO)
            close(saved)
            defer { close(readEnd) }
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(readEnd, &buffer, buffer.count)
                guard count > 0 else { break }
                bytes += buffer[..<count]
            }
            return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        }
    }
}
