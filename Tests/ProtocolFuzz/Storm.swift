import ClusterProtocol
import Foundation
import Messaging
import Support

/// Damaged messages over real sockets to a coordinator, by a slot that has said hello, proved and taken a lease: what it damages is about
/// the lease that it holds, and gets as far as it can.
struct Storm {
    let address: String
    let corpus: [CapturedMessage]
    let seed: UInt64

    func run(rounds: Int) throws {
        let context = try MessageContext()
        let replies = Replies()
        var mutator = MessageMutator(seed: seed)
        let sent = corpus.filter(\.isUp)
        var endpoint: DealerEndpoint<Replies>?
        for round in 0..<rounds {
            // A new connection now and then; what was said over the last one is not known of it.
            if round % 500 == 0 {
                endpoint?.stop()
                endpoint = try DealerEndpoint(context: context, address: address) { _ in replies }
                try greet(endpoint, round, replies)
            }
            guard let endpoint, let message = sent.randomElement(using: &mutator.generator),
                let other = sent.randomElement(using: &mutator.generator)
            else { return }
            // Every third is whole: the life of the slot goes on between the blows.
            let isWhole = Int.random(in: 0..<3, using: &mutator.generator) == 0
            let named = renamed(message.header, replies.lease)
            let header = isWhole ? named : mutator.mutated(named, other: renamed(other.header, replies.lease))
            let payload = message.payload.map { frame in
                switch frame {
                case .samples(let count): [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: count)
                case .parsed(let bytes): isWhole ? bytes : mutator.mutated(bytes, other: bytes)
                }
            }
            try send([header] + payload, through: endpoint, replies)
            if round % 64 == 63 { replies.settle() }
        }
        replies.settle()
        endpoint?.stop()
        print("\(rounds) messages sent, \(replies.count) answers, \(replies.leases) leases, seed \(seed)")
        // Without one, nothing got far.
        if replies.leases == 0 { exit(1) }
    }

    private func greet(_ endpoint: DealerEndpoint<Replies>?, _ round: Int, _ replies: Replies) throws {
        guard let endpoint else { return }
        let hello = Hello(
            role: .slot, node: "storm-\(round)", slot: 0, incarnation: "\(round + 1)", pid: 1, host: "storm",
            version: "0",
            encoders: [EncoderOffer(name: "libx264")], cores: 1, memory: 1 << 30, threads: 1, streams: true)
        let before = replies.count
        try endpoint.send([MessageFrame(try MessageCodec.encode(WorkerMessage.hello(hello)))])
        try endpoint.send([MessageFrame(try MessageCodec.encode(WorkerMessage.ready(Ready())))])
        replies.wait(beyond: before)
    }

    private func send(_ frames: [[UInt8]], through endpoint: DealerEndpoint<Replies>, _ replies: Replies) throws {
        let frames = frames.map { MessageFrame($0) }
        while true {
            do throws(MessagingError) {
                return try endpoint.send(frames)
            } catch {
                guard error.code == .congested else { throw error }
                replies.settle()
            }
        }
    }

    /// The captured leases' names become that of the lease at hand.
    private func renamed(_ header: [UInt8], _ lease: String?) -> [UInt8] {
        let key = Array("\"lease\":\"".utf8)
        guard let lease, let start = header.firstRange(of: key)?.upperBound,
            let end = header[start...].firstIndex(of: UInt8(ascii: "\""))
        else { return header }
        return header[..<start] + Array(lease.utf8) + header[end...]
    }
}

/// What comes back, as far as the storm has use for it.
final class Replies: EndpointHandler, @unchecked Sendable {
    private let condition = NSCondition()
    private var received = 0
    private var held: [LeaseName] = []

    var count: Int { locked { received } }
    var leases: Int { locked { held.count } }
    var lease: String? { locked { held.last?.description } }

    private func locked<Value>(_ body: () -> Value) -> Value {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    func received(_ message: ReceivedMessage) {
        let payload = message.frames.dropFirst().map(\.count)
        let decoded: CoordinatorMessage? = message.frames.first?.withUnsafeBytes { bytes in
            try? MessageCodec.decode(header: bytes, payload: payload)
        }
        locked {
            received += 1
            if case .lease(let lease) = decoded { held.append(lease.lease) }
            condition.broadcast()
        }
    }

    /// Waits for an answer, but not for ever: not everything is answered.
    func wait(beyond count: Int) {
        let deadline = Date(timeIntervalSinceNow: 5)
        condition.lock()
        defer { condition.unlock() }
        while received <= count, condition.wait(until: deadline) {}
    }

    /// Waits until answers come no more for a moment.
    func settle() {
        condition.lock()
        defer { condition.unlock() }
        while condition.wait(until: Date(timeIntervalSinceNow: 0.02)) {}
    }
}
