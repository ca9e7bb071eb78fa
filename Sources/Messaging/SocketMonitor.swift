internal import CZeroMQ

/// The events that libzmq's own threads report about a socket, as messages on an inproc pair (zmq_socket_monitor(3)).
///
/// Confined to the thread of its socket.
final class SocketMonitor {
    let events: Socket

    private static let mask =
        ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
        | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL

    init(of socket: borrowing Socket, context: MessageContext) throws(MessagingError) {
        let address = "inproc://monitor-\(UInt(bitPattern: socket.pointer))"
        try check("watch a socket") { zmq_socket_monitor(socket.pointer, address, Self.mask) }
        events = try context.socket(.pair)
        try events.set(ZMQ_LINGER, Int32(0), "ZMQ_LINGER")
        try events.connect(address)
    }

    /// The next event, `nil` when none waits.
    func next() throws(MessagingError) -> ConnectionEvent? {
        while case .frames(let frames) = try events.receive(maximumFrames: 2) {
            guard frames.count == 2, let kind = Self.kind(frames[0].bytes) else { continue }
            return ConnectionEvent(kind: kind, address: String(decoding: frames[1].bytes, as: UTF8.self))
        }
        return nil
    }

    /// The first frame: a 16-bit event and a 32-bit value in the machine's own byte order.
    private static func kind(_ bytes: [UInt8]) -> ConnectionEvent.Kind? {
        guard bytes.count == 6 else { return nil }
        let (event, value) = bytes.withUnsafeBytes {
            (Int32($0.loadUnaligned(as: UInt16.self)), $0.loadUnaligned(fromByteOffset: 2, as: Int32.self))
        }
        switch event {
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return .connected
        case ZMQ_EVENT_DISCONNECTED: return .disconnected
        case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return .unauthorized(value)
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: return .handshakeFailed
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: return .handshakeBroken
        default: return nil
        }
    }
}
