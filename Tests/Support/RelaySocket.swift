import Foundation

#if canImport(Glibc)
    private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
    private let streamSocket = SOCK_STREAM
#endif

/// The few calls on descriptors that a relay needs; none of them waits.
enum RelaySocket {
    static func listener(at address: SocketAddress) throws(TCPRelay.Failed) -> Int32 {
        let descriptor = socket(AF_INET, streamSocket, 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard descriptor >= 0, address.withPointer({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 1024) == 0
        else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw TCPRelay.Failed(description: "cannot listen: \(reason)")
        }
        makeNonblocking(descriptor)
        return descriptor
    }

    static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// - Returns: `nil` when nobody waits.
    static func accept(from listener: Int32) -> Int32? {
        let descriptor = Foundation.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        return descriptor
    }

    /// Begins to connect; whether it works shows when something is sent.
    static func connect(to address: SocketAddress) -> Int32? {
        let descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        if address.withPointer({ Foundation.connect(descriptor, $0, $1) }) != 0, errno != EINPROGRESS {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Closes with RST instead of FIN.
    static func reset(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }

    private static func prepare(_ descriptor: Int32) {
        makeNonblocking(descriptor)
        var yes: Int32 = 1
        // What is delayed is delayed by the relay alone.
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func makeNonblocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
}
