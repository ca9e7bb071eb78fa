internal import ClusterProtocol
internal import Foundation

/// Standard output and standard error, unbuffered, so that nothing is lost at an abrupt end and the two keep their order.
struct StandardStream: Sendable {
    static let output = StandardStream(descriptor: 1)
    /// A descriptor of its own: while an encoder is opened, the number 2 leads elsewhere (codec libraries write to it).
    static let error = StandardStream(descriptor: copyOfError())

    private static func copyOfError() -> Int32 {
        let copy = fcntl(2, F_DUPFD_CLOEXEC, 3)
        return copy >= 0 ? copy : 2
    }

    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Columns of the terminal; `nil` on a pipe or where it does not tell.
    var width: Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private static func complain(_ code: Int32) -> Never {
        error.write("weft: standard output cannot be written: \(String(cString: strerror(code))).\n")
        exit(ExitCode.ioError.rawValue)
    }

    func write(_ text: String) {
        write(Data(text.utf8))
    }

    /// A reader that went away is no reason to stop an export: what cannot be written is dropped. A full disk behind standard output
    /// is another matter: what was asked for is not there, and the exit code says so.
    func write(_ data: Data) {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    if descriptor == Self.output.descriptor, errno != EPIPE { Self.complain(errno) }
                    return
                }
                rest = rest.dropFirst(count)
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
