/// Messages that libzmq did not take yet, in order for each peer. One peer that does not read holds up no other.
struct Delivery {
    private struct Backlog {
        var messages: [OutgoingMessage] = []
        var head = 0
        var bytes = 0

        var isEmpty: Bool { head == messages.count }

        mutating func removeFirst() {
            bytes -= messages[head].size
            head += 1
            if head > 64, head * 2 > messages.count {
                messages.removeFirst(head)
                head = 0
            }
        }
    }

    private var backlogs: [PeerIdentity?: Backlog] = [:]
    private let maximumPeerBytes: Int

    init(maximumPeerBytes: Int) { self.maximumPeerBytes = maximumPeerBytes }

    /// Some peer's messages wait.
    var isBlocked: Bool { !backlogs.isEmpty }

    /// What became of a message that left the queue.
    typealias Report = (OutgoingMessage, MessagingError?) -> Void

    /// Sends the message, or keeps it behind those that its peer still waits for.
    mutating func submit(_ message: OutgoingMessage, through socket: borrowing Socket, report: Report) {
        guard backlogs[message.peer] == nil else { return keep(message, report: report) }
        switch socket.send(message.frames, to: message.peer) {
        case .sent: report(message, nil)
        case .blocked: keep(message, report: report)
        case .failed(let error): report(message, error)
        }
    }

    private mutating func keep(_ message: OutgoingMessage, report: Report) {
        var backlog = backlogs.removeValue(forKey: message.peer) ?? Backlog()
        if backlog.bytes + message.size > maximumPeerBytes {
            report(message, MessagingError(.congested, "send a message", "\(backlog.bytes) bytes wait for the peer"))
        } else {
            backlog.messages.append(message)
            backlog.bytes += message.size
        }
        if !backlog.isEmpty { backlogs[message.peer] = backlog }
    }

    /// Sends what can be sent by now.
    mutating func retry(through socket: borrowing Socket, report: Report) {
        for peer in Array(backlogs.keys) {
            guard var backlog = backlogs.removeValue(forKey: peer) else { continue }
            sending: while !backlog.isEmpty {
                let message = backlog.messages[backlog.head]
                switch socket.send(message.frames, to: peer) {
                case .sent: report(message, nil)
                case .failed(let error): report(message, error)
                case .blocked: break sending
                }
                backlog.removeFirst()
            }
            if !backlog.isEmpty { backlogs[peer] = backlog }
        }
    }

    /// Gives up everything.
    mutating func abandon(_ error: MessagingError, report: Report) {
        for backlog in backlogs.values {
            for message in backlog.messages[backlog.head...] { report(message, error) }
        }
        backlogs = [:]
    }
}
