import Foundation

@testable import Messaging

/// What happened at an endpoint, seen from the test's thread.
final class Journal: @unchecked Sendable {
    private let condition = NSCondition()
    private var messages: [ReceivedMessage] = []
    private var failures: [MessagingError] = []
    private var events: [ConnectionEvent] = []
    private var dropped = 0
    private var ticks = 0
    private var stops = 0

    struct Snapshot {
        var messages: [ReceivedMessage]
        var failures: [MessagingError]
        var events: [ConnectionEvent]
        var dropped: Int
        var ticks: Int
        var stops: Int
    }

    private func change(_ body: () -> Void) {
        condition.lock()
        body()
        condition.broadcast()
        condition.unlock()
    }

    func add(_ message: ReceivedMessage) { change { messages.append(message) } }
    func add(_ failure: MessagingError) { change { failures.append(failure) } }
    func add(_ event: ConnectionEvent) { change { events.append(event) } }
    func addDropped() { change { dropped += 1 } }
    func addTick() { change { ticks += 1 } }
    func addStop() { change { stops += 1 } }

    var now: Snapshot {
        condition.lock()
        defer { condition.unlock() }
        return snapshot
    }

    private var snapshot: Snapshot {
        Snapshot(
            messages: messages, failures: failures, events: events, dropped: dropped, ticks: ticks, stops: stops)
    }

    /// Waits until the journal is as `isReached` wants it.
    /// - Returns: whether it was in time.
    @discardableResult
    func wait(seconds: Double = 20, until isReached: (Snapshot) -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while !isReached(snapshot) {
            if !condition.wait(until: deadline) { return isReached(snapshot) }
        }
        return true
    }
}

/// Writes everything into a journal, and answers with `reply` where there is one.
final class Recorder: EndpointHandler {
    let journal: Journal
    private let reply: (ReceivedMessage) -> Void

    init(_ journal: Journal, reply: @escaping (ReceivedMessage) -> Void = { _ in }) {
        self.journal = journal
        self.reply = reply
    }

    func received(_ message: ReceivedMessage) {
        journal.add(message)
        reply(message)
    }

    func undeliverable(_ frames: [MessageFrame], to peer: PeerIdentity?, error: MessagingError) { journal.add(error) }
    func tick() { journal.addTick() }
    func connection(_ event: ConnectionEvent) { journal.add(event) }
    func dropped(from peer: PeerIdentity?, error: MessagingError) { journal.addDropped() }
    func stopped(_ error: MessagingError?) { journal.addStop() }
}

/// Where connections are tried.
enum Transport: String, CaseIterable, Sendable {
    case ipc, tcp, loopback6

    func address(in directory: IPCDirectory) throws -> String {
        switch self {
        case .ipc: try directory.address("router")
        case .tcp: "tcp://127.0.0.1:*"
        case .loopback6: "tcp://[::1]:*"
        }
    }

    /// IPv6 is missing in some containers.
    var isAvailable: Bool {
        guard self == .loopback6 else { return true }
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
    }
}

func frames(_ texts: String...) -> [MessageFrame] { texts.map { MessageFrame(Array($0.utf8)) } }

extension ReceivedMessage {
    var texts: [String] { frames.map { String(decoding: $0.bytes, as: UTF8.self) } }
}
