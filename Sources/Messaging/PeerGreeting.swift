internal import Foundation

/// What the other side of an address says before anything else: which security mechanism it speaks.
///
/// libzmq tells a client that the mechanisms differ (`handshakeFailed`) only if the client was quick enough to read the server's
/// greeting. A server that has read the client's first ends the connection, unread bytes and all, and then nothing is left but a
/// connection that broke in its handshake, as it does before a proxy whose coordinator is away. Here the server has nothing to
/// refuse: it is shown ten bytes of signature and the version, whereupon it sends the whole of its own greeting (ZMTP 3.0, RFC 23).
enum PeerGreeting {
    /// - Returns: `NULL`, `PLAIN`, `CURVE`…; `nil` where no ZeroMQ peer of version 3 answers in time, and for other addresses
    ///   than tcp. Blocks.
    static func mechanism(at address: String, seconds: Double = 2) -> String? {
        guard let (host, port) = parts(of: address) else { return nil }
        let deadline = Date(timeIntervalSinceNow: seconds)
        for target in TCPTarget.all(host: host, port: port) {
            guard let descriptor = target.connect(by: deadline) else { continue }
            defer { close(descriptor) }
            return mechanism(from: descriptor, deadline)
        }
        return nil
    }

    private static func parts(of address: String) -> (host: String, port: String)? {
        guard address.hasPrefix("tcp://"), let colon = address.lastIndex(of: ":"),
            colon > address.index(address.startIndex, offsetBy: 5)
        else { return nil }
        let host = address[address.index(address.startIndex, offsetBy: "tcp://".count)..<colon]
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host
        return (String(bare), String(address[address.index(after: colon)...]))
    }

    private static let signature: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F]
    private static let greetingBytes = 64
    private static let mechanismPlace = 12..<32

    private static func mechanism(from descriptor: Int32, _ deadline: Date) -> String? {
        let opening = signature + [3]
        // Eleven bytes into a fresh socket: they fit its buffer.
        guard send(descriptor, opening, opening.count, Int32(MSG_NOSIGNAL)) == opening.count else { return nil }
        var greeting: [UInt8] = []
        while greeting.count < greetingBytes {
            guard isReady(descriptor, Int16(POLLIN), deadline) else { return nil }
            var buffer = [UInt8](repeating: 0, count: greetingBytes - greeting.count)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return nil }
            greeting += buffer[..<count]
        }
        guard greeting[0] == 0xFF, greeting[9] == 0x7F, greeting[10] >= 3 else { return nil }
        return String(decoding: greeting[mechanismPlace].prefix { $0 != 0 }, as: UTF8.self)
    }

    fileprivate static func isReady(_ descriptor: Int32, _ events: Int16, _ deadline: Date) -> Bool {
        while true {
            let left = deadline.timeIntervalSinceNow
            guard left > 0 else { return false }
            var poll = pollfd(fd: descriptor, events: events, revents: 0)
            let ready = Foundation.poll(&poll, 1, Int32(left * 1000) + 1)
            if ready > 0 { return true }
            guard ready == 0 || errno == EINTR else { return false }
        }
    }
}

/// One of the addresses that a name stands for.
private struct TCPTarget {
    let family: Int32
    let address: [UInt8]

    static func all(host: String, port: String) -> [TCPTarget] {
        var hints = addrinfo()
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, port, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var targets: [TCPTarget] = []
        var next = list
        while let info = next {
            let bytes = UnsafeRawBufferPointer(start: info.pointee.ai_addr, count: Int(info.pointee.ai_addrlen))
            targets.append(TCPTarget(family: info.pointee.ai_family, address: Array(bytes)))
            next = info.pointee.ai_next
        }
        return targets
    }

    func connect(by deadline: Date) -> Int32? {
        #if canImport(Darwin)
            let descriptor = socket(family, SOCK_STREAM, 0)
        #else
            let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let status = address.withUnsafeBytes { bytes -> Int32 in
            guard let start = bytes.baseAddress else { return -1 }
            return Foundation.connect(descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        if status == 0 || (errno == EINPROGRESS && PeerGreeting.isReady(descriptor, Int16(POLLOUT), deadline)) {
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            if getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0, code == 0 { return descriptor }
        }
        close(descriptor)
        return nil
    }
}
