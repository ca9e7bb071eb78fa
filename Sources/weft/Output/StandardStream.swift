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

    func write(_ text: String) {
        write(Data(text.utf8))
    }

    /// A reader that went away is no reason to stop an export: what cannot be written is dropped.
    func write(_ data: Data) {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
