internal import CZeroMQ

enum SocketType {
    case router, dealer, pair

    var rawValue: Int32 {
        switch self {
        case .router: ZMQ_ROUTER
        case .dealer: ZMQ_DEALER
        case .pair: ZMQ_PAIR
        }
    }
}

/// A libzmq socket, which must live and die on one thread: it is neither copied nor sent.
struct Socket: ~Copyable {
    let pointer: UnsafeMutableRawPointer

    init(adopting pointer: UnsafeMutableRawPointer) { self.pointer = pointer }

    deinit { zmq_close(pointer) }

    // MARK: Options

    func set(_ option: Int32, _ value: Int32, _ name: StaticString) throws(MessagingError) {
        try check("set \(name)") {
            withUnsafeBytes(of: value) { zmq_setsockopt(pointer, option, $0.baseAddress, $0.count) }
        }
    }

    func set(_ option: Int32, _ value: Int64, _ name: StaticString) throws(MessagingError) {
        try check("set \(name)") {
            withUnsafeBytes(of: value) { zmq_setsockopt(pointer, option, $0.baseAddress, $0.count) }
        }
    }

    func set(_ option: Int32, _ value: [UInt8], _ name: StaticString) throws(MessagingError) {
        try check("set \(name)") {
            value.withUnsafeBytes { zmq_setsockopt(pointer, option, $0.baseAddress, $0.count) }
        }
    }

    // MARK: Addresses

    /// - Returns: the address with its wildcards resolved.
    func bind(_ address: String) throws(MessagingError) -> String {
        try check("bind to \(address)") { zmq_bind(pointer, address) }
        return try lastEndpoint()
    }

    func connect(_ address: String) throws(MessagingError) {
        try check("connect to \(address)") { zmq_connect(pointer, address) }
    }

    private func lastEndpoint() throws(MessagingError) -> String {
        var text = [CChar](repeating: 0, count: 1024)
        var size = text.count
        try check("read the bound address") { zmq_getsockopt(pointer, ZMQ_LAST_ENDPOINT, &text, &size) }
        return String(decoding: text.prefix(while: { $0 != 0 }).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    // MARK: Messages

    enum Sent {
        case sent
        /// The high-water mark is reached; nothing was sent.
        case blocked
        case failed(MessagingError)
    }

    /// Hands a whole multipart message to libzmq without waiting. All of it goes or none.
    func send(_ frames: [MessageFrame], to peer: PeerIdentity?) -> Sent {
        var outcome = Sent.sent
        if let peer {
            outcome = part(MessageFrame(peer.bytes), more: true)
            guard case .sent = outcome else { return outcome }
        }
        for (index, frame) in frames.enumerated() {
            let result = part(frame, more: index + 1 < frames.count)
            if case .sent = result { continue }
            if index == 0, peer == nil { return result }
            // The connection broke inside the message. libzmq rolls it back, and drops parts up to the last one: give it
            // those, or it would take the next message's parts for them.
            if case .sent = outcome { outcome = result }
        }
        return outcome
    }

    private func part(_ frame: MessageFrame, more: Bool) -> Sent {
        var message = zmq_msg_t()
        do throws(MessagingError) {
            try frame.write(to: &message)
        } catch {
            return .failed(error)
        }
        let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
        while zmq_msg_send(&message, pointer, flags) == -1 {
            let code = zmq_errno()
            if code == Int32(EINTR) { continue }
            zmq_msg_close(&message)
            return code == Int32(EAGAIN) ? .blocked : .failed(.last("send a message"))
        }
        return .sent
    }

    enum Received {
        case frames([MessageFrame])
        /// Nothing is waiting.
        case none
        /// The message had more frames than allowed and was dropped.
        case tooLarge(PeerIdentity?)
    }

    /// Takes the next whole message without waiting.
    func receive(maximumFrames: Int) throws(MessagingError) -> Received {
        var frames: [MessageFrame] = []
        var dropped = false
        while true {
            guard let frame = try receivePart() else { return .none }
            if frames.count < maximumFrames { frames.append(frame.frame) } else { dropped = true }
            if !frame.more { break }
        }
        return dropped ? .tooLarge(frames.first.map { PeerIdentity($0.bytes) }) : .frames(frames)
    }

    private func receivePart() throws(MessagingError) -> (frame: MessageFrame, more: Bool)? {
        let storage = ReceivedStorage()
        while zmq_msg_recv(storage.message, pointer, ZMQ_DONTWAIT) == -1 {
            let code = zmq_errno()
            if code == Int32(EINTR) { continue }
            if code == Int32(EAGAIN) { return nil }
            throw .last("receive a message")
        }
        return (MessageFrame(storage: storage), zmq_msg_more(storage.message) != 0)
    }
}
