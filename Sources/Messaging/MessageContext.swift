internal import CZeroMQ

/// A libzmq context: its I/O threads, and the name space of inproc addresses. One a process is usual.
///
/// Endpoints keep their context alive, so it ends after the last of them. Ending waits at most for their linger times.
package final class MessageContext: Sendable {
    /// Thread-safe by libzmq's own promise (zmq_ctx_new(3)).
    private nonisolated(unsafe) let pointer: UnsafeMutableRawPointer

    /// - Parameter ioThreads: one carries about a gigabyte a second; CURVE about half.
    package init(ioThreads: Int = 1) throws(MessagingError) {
        guard let pointer = zmq_ctx_new() else { throw .last("create a messaging context") }
        self.pointer = pointer
        zmq_ctx_set(pointer, ZMQ_IO_THREADS, Int32(clamping: max(1, ioThreads)))
        // Sockets that were never given a linger time must not hold up the end of the process.
        zmq_ctx_set(pointer, ZMQ_BLOCKY, 0)
    }

    func socket(_ type: SocketType) throws(MessagingError) -> Socket {
        guard let socket = zmq_socket(pointer, type.rawValue) else { throw .last("create a socket") }
        return Socket(adopting: socket)
    }

    deinit {
        while zmq_ctx_term(pointer) == -1, zmq_errno() == Int32(EINTR) {}
    }
}
