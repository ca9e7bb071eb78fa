import ClusterProtocol
import Foundation
import Messaging
import Testing

/// How bulk data and control messages share a connection: credit bounds what is ahead, and nobody waits for somebody else's.
@Suite("Flow", .serialized)
struct FlowTests {
    /// A job of one long segment of raw video, which only a stream of some hundred megabytes carries.
    private static func coordinator(_ place: Workplace) throws -> Bool {
        let path = place.file("raw.nut")
        let words = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=16"]
        guard let made = try place.tool(words + ["-c:v", "rawvideo", "-pix_fmt", "yuv420p", path]) else { return false }
        try #require(made.code == 0, "\(made.errors)")
        try place.startCoordinator()
        _ = try place.submit(path, "out.mp4", ["--segment-duration", "8", "--stall-limit", "600"])
        return true
    }

    @Test("No more of a stream is under way than was granted, and an answer never stands behind more than that")
    func credit() throws {
        let place = try Workplace()
        guard try Self.coordinator(place) else { return }
        let slot = try FlowSlot(place.address, "a")
        let lease = try slot.awaitLease()
        let window = ProtocolLimits.sourceWindow
        // The largest message may be what did not fit.
        let leftOver = Int64(ProtocolLimits.sourceBytes + 2 * ProtocolLimits.chunkBytes)
        try slot.send(.sourceCredit(SourceCredit(lease: lease, bytes: window)))
        try slot.awaits("the window is used") { $0.bulk > window - leftOver }
        for turn in 1...6 as ClosedRange<Int64> {
            // Asked in the same breath: the answer comes within what had been granted when it was.
            try slot.send(.sourceCredit(SourceCredit(lease: lease, bytes: window)))
            try slot.probe(UInt64(turn))
            try slot.awaits("an answer") { $0.answers.count == turn }
            let ahead = try #require(slot.journal.answers[UInt64(turn)])
            #expect(ahead <= window * (turn + 1))
            try slot.awaits("the window is used") { $0.bulk > window * (turn + 1) - leftOver }
            #expect(slot.journal.bulk <= window * (turn + 1))
        }
    }

    @Test("A slot that takes nothing of its stream holds up no other")
    func reader() throws {
        let place = try Workplace()
        guard try Self.coordinator(place) else { return }
        let idle = try FlowSlot(place.address, "idle")
        let lease = try idle.awaitLease()
        let other = try FlowSlot(place.address, "other")
        let second = try other.awaitLease()
        idle.holds = true
        // All of it, at once.
        try idle.send(.sourceCredit(SourceCredit(lease: lease, bytes: ProtocolLimits.creditBytes)))
        try other.send(.sourceCredit(SourceCredit(lease: second, bytes: ProtocolLimits.creditBytes)))
        for turn in 1...50 {
            try other.probe(UInt64(turn))
            try other.awaits("an answer") { $0.answers.count == turn }
        }
        try other.awaits("the end of its own stream") { $0.isStreamed }
        #expect(!idle.journal.isStreamed)
        idle.holds = false
        try idle.awaits("the end of the stream that waited") { $0.isStreamed }
    }
}

/// A slot that asks for its source and for answers, and encodes nothing.
private final class FlowSlot {
    /// What has come so far.
    struct Journal {
        var lease: LeaseName?
        /// Payload bytes of the stream.
        var bulk: Int64 = 0
        var isStreamed = false
        /// By the number of the question: bytes of the stream that had come before.
        var answers: [UInt64: Int64] = [:]
    }

    private static let firstProbe: UInt64 = 1 << 40

    private final class Handler: EndpointHandler, @unchecked Sendable {
        let condition = NSCondition()
        var journal = Journal()
        var holds = false

        func received(_ message: ReceivedMessage) {
            let payload = message.frames.dropFirst().map(\.count)
            let decoded: CoordinatorMessage? = message.frames.first?.withUnsafeBytes { bytes in
                try? MessageCodec.decode(header: bytes, payload: payload)
            }
            condition.lock()
            defer { condition.unlock() }
            while holds { condition.wait() }
            switch decoded {
            case .lease(let lease): journal.lease = lease.lease
            case .source(let chunk):
                journal.bulk += Int64(payload.reduce(0, +))
                journal.isStreamed = chunk.last
            case .revoke(let revoke): journal.answers[revoke.lease.fence &- FlowSlot.firstProbe] = journal.bulk
            default: break
            }
            condition.broadcast()
        }
    }

    private let context: MessageContext
    private let endpoint: DealerEndpoint<Handler>
    private let handler = Handler()

    init(_ address: String, _ node: String) throws {
        context = try MessageContext()
        endpoint = try DealerEndpoint(context: context, address: address) { [handler] _ in handler }
        let hello = Hello(
            role: .slot, node: node, slot: 0, incarnation: "1", pid: 1, host: "flow", version: "0",
            encoders: [EncoderOffer(name: "libx264")], cores: 1, memory: 1 << 30, threads: 1, streams: true)
        try send(.hello(hello))
        try send(.ready(Ready()))
    }

    deinit {
        holds = false
        endpoint.stop()
    }

    /// Takes nothing while it is set.
    var holds: Bool {
        get { locked { $0.holds } }
        set { locked { $0.holds = newValue } }
    }

    var journal: Journal { locked { $0.journal } }

    private func locked<Value>(_ body: (Handler) -> Value) -> Value {
        handler.condition.lock()
        defer {
            handler.condition.broadcast()
            handler.condition.unlock()
        }
        return body(handler)
    }

    func send(_ message: WorkerMessage) throws {
        try endpoint.send([MessageFrame(try MessageCodec.encode(message))])
    }

    /// Progress of a lease that there will not be: the answer is `revoke`, and names it.
    func probe(_ number: UInt64) throws {
        let lease = LeaseName(job: "none", fence: Self.firstProbe + number)
        try send(.progress(Progress(lease: lease, frames: 0, ticks: 0, stageSeconds: StageSeconds())))
    }

    func awaitLease() throws -> LeaseName {
        try awaits("a lease") { $0.lease != nil }
        return try #require(journal.lease)
    }

    func awaits(_ what: String, _ isReached: (Journal) -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: 60)
        handler.condition.lock()
        defer { handler.condition.unlock() }
        while !isReached(handler.journal) {
            try #require(handler.condition.wait(until: deadline), "\(what) did not come")
        }
    }
}
