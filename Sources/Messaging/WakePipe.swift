internal import Foundation

/// A descriptor that ends a poll from another thread. Two sockets, for not every system has eventfd.
struct WakePipe: ~Copyable, Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws(MessagingError) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            // Close-on-exec at once: a child that is being started on another thread must not inherit it. A pair of sockets
            // can be made so without GNU extensions; a pipe cannot.
            let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            let result = socketpair(AF_UNIX, Int32(kind), 0, &ends)
        #else
            let result = socketpair(AF_UNIX, SOCK_STREAM, 0, &ends)
            for end in ends where result == 0 {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        #endif
        guard result == 0 else { throw MessagingError(.init(rawValue: errno), "create a pair of sockets") }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    /// Ends the poll that waits on `readEnd`, or the next one. A full pipe wakes as well as one more byte.
    func wake() {
        var byte: UInt8 = 1
        while write(writeEnd, &byte, 1) == -1, errno == EINTR {}
    }

    /// Takes back all wakes.
    func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while true {
            let count = read(readEnd, &bytes, bytes.count)
            if count == bytes.count || (count == -1 && errno == EINTR) { continue }
            return
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }
}
