internal import ClusterProtocol
internal import Foundation
internal import Media
internal import Messaging
internal import SourceAccess
internal import Synchronization

/// One lease at work on its own thread: runs the pipeline, cuts the samples into chunks, and spends credit to send them.
///
/// Over a link that can break it keeps what it has sent: a coordinator that was away gets it again (`Welcome.resume`), and the
/// work is not lost.
final class LeaseRun: SampleSink, @unchecked Sendable {
    let lease: Lease
    let gauge = LeaseGauge()
    let cancellation = InterruptFlag()
    /// Stops the reading of the source that this lease uses now.
    private let reading = Mutex<InterruptFlag?>(nil)
    /// Where the coordinator reads the source for this slot.
    private let inlet = Mutex<SourceInlet?>(nil)
    private let sender: DealerSender
    private let started = LeaseGauge.now
    /// The lease is over only when the coordinator says that the result is durable. Not over a link that cannot break.
    private let awaitsAcceptance: Bool

    // Guarded by `condition`.
    private let condition = NSCondition()
    private var credit: CreditBalance
    private var outbox: ChunkOutbox
    private var isPaused = false
    private var isAccepted = false
    private var isResultSent = false
    private var end: String?

    // Touched by the thread that calls `append`, and by `finish` after that.
    private var chunk: [UInt8] = []
    private var hash = ContentHash()
    private var table = SampleTable()
    private var size: Int64 = 0

    /// Counts the waits for credit: a slot that waits for the coordinator is not hung.
    private let waits = Atomic<Int>(0)

    /// Seconds to wait for word about a result before the slot goes on.
    private static let acceptanceSeconds = 120.0

    init(_ lease: Lease, sender: DealerSender, awaitsAcceptance: Bool) {
        self.lease = lease
        self.sender = sender
        self.awaitsAcceptance = awaitsAcceptance
        credit = CreditBalance(lease.credit)
        outbox = ChunkOutbox(keeps: awaitsAcceptance)
        chunk.reserveCapacity(lease.chunkBytes)
    }

    /// Rises as long as anything moves: what a supervisor looks at to tell slow from hung.
    var work: Int64 {
        Int64(gauge.frameCount) &+ gauge.byteCount &+ gauge.bytesReadCount &+ Int64(waits.load(ordering: .relaxed))
    }

    private func locked(_ body: () -> Void) {
        condition.lock()
        body()
        condition.broadcast()
        condition.unlock()
    }

    func add(credit bytes: Int64) { locked { credit.grant(bytes) } }

    /// The result is durable.
    func accept() { locked { isAccepted = true } }

    /// How it ended, for the log.
    var ending: String {
        condition.lock()
        defer { condition.unlock() }
        return end ?? (cancellation.isInterrupted ? "is wanted no longer" : "ended without word from the coordinator")
    }

    func cancel() {
        cancellation.interrupt()
        reading.withLock { $0?.interrupt() }
        inlet.withLock { $0 }?.cancel()
        locked {}
    }

    /// The lease's samples come from the coordinator.
    /// - Parameter reason: why the slot does not read the source itself, where it tried.
    func openStream(because reason: Failure?) throws(Failure) -> StreamedSource {
        let fresh = SourceInlet(lease.lease, sender: sender) { [weak self] in
            _ = self?.waits.wrappingAdd(1, ordering: .relaxed)
        }
        inlet.withLock { $0 = fresh }
        if cancellation.isInterrupted { fresh.cancel() }
        return try StreamedSource(fresh, segment: lease.segment, because: reason)
    }

    func receive(_ chunk: SourceChunk, _ payload: [MessageFrame]) {
        inlet.withLock { $0 }?.receive(chunk, payload)
    }

    /// From now on, cancelling the lease stops this flag's reading as well; `nil` where the source goes on to the next lease.
    func isReading(under flag: InterruptFlag?) {
        reading.withLock { reading in
            reading = flag
            if cancellation.isInterrupted { flag?.interrupt() }
        }
    }

    /// Sends nothing until `resume`: the coordinator does not know the slot just now.
    /// - Returns: whether the lease can go on from its first byte later.
    func pause() -> Bool {
        var isResumable = false
        locked {
            isPaused = true
            isResumable = outbox.isComplete
        }
        return isResumable
    }

    /// Sends everything from the first byte.
    func resume(credit fresh: Int64) {
        locked {
            outbox.rewind()
            credit = CreditBalance(fresh)
            isPaused = false
            isResultSent = false
        }
        inlet.withLock { $0 }?.reconnect()
    }

    /// Runs the lease and sends its result or its failure.
    func run(_ source: any SegmentSource) {
        do throws(Failure) {
            let pipeline = SegmentPipeline(
                recipe: lease.recipe, segment: lease.segment, source: source, gauge: gauge, cancellation: cancellation)
            let outcome = try pipeline.run(into: self)
            try finish(outcome)
        } catch {
            report(error)
        }
    }

    /// - Parameter isUnfit: this node can do no segment of the job.
    func report(_ failure: Failure, isUnfit: Bool = false) {
        guard !cancellation.isInterrupted else { return }
        locked { end = "failed: \(failure.message)" }
        let message = LeaseFailed(lease: lease.lease, failure: failure, frames: gauge.frameCount, isUnfit: isUnfit)
        try? send(.failed(message))
    }

    // MARK: SampleSink

    func append(_ sample: Sample) throws(Failure) {
        table.entries.append(SampleTable.Entry(sample))
        // What an encoder hands out beside its samples (statistics, buffer fullness) is its own affair.
        var offset = 0
        while offset < sample.size {
            let room = min(sample.size - offset, lease.chunkBytes - chunk.count)
            sample.withUnsafeBytes { chunk.append(contentsOf: $0[offset..<(offset + room)]) }
            offset += room
            if chunk.count == lease.chunkBytes { try flush() }
        }
    }

    private func flush() throws(Failure) {
        guard !chunk.isEmpty else { return }
        let start = LeaseGauge.now
        defer { gauge.add(.send, since: start) }
        hash.update(chunk)
        size += Int64(chunk.count)
        condition.lock()
        defer { condition.unlock() }
        outbox.append(MessageFrame(chunk))
        chunk.removeAll(keepingCapacity: true)
        try sendChunks()
    }

    /// Sends what is not sent, as credit comes. `condition` is held, and let go of while it waits.
    private func sendChunks() throws(Failure) {
        while let next = outbox.next {
            if cancellation.isInterrupted { throw Failure.interrupted }
            guard !isPaused, credit.spend(next.frame.count) else {
                waits.wrappingAdd(1, ordering: .relaxed)
                _ = condition.wait(until: Date(timeIntervalSinceNow: 0.5))
                continue
            }
            let message = Chunk(lease: lease.lease, sequence: next.sequence, offset: next.offset)
            try send(.chunk(message), payload: [next.frame])
            outbox.advance()
        }
    }

    // MARK: Result

    private func finish(_ outcome: SegmentPipeline.Outcome) throws(Failure) {
        try flush()
        table.damage = outcome.damage
        let times = table.entries.map(\.pts).filter { $0 != SampleTable.noTime }
        let result = SegmentResult(
            lease: lease.lease, frames: outcome.frames, samples: table.entries.count, bytes: size, hash: hash.finish(),
            stageSeconds: gauge.seconds, seconds: Double(LeaseGauge.now &- started) / 1e9, firstPTS: times.min(),
            lastPTS: times.max(), bytesRead: gauge.bytesReadCount, warnings: outcome.warnings)
        let frames: [[UInt8]]
        do {
            frames = try [outcome.format.archive()] + table.frames()
        } catch {
            throw Failure(
                .format, "The segment's samples cannot be described: \(error.reason)", advice: "Report this source.",
                fault: .worker)
        }
        try deliver(.result(result), payload: frames.map { MessageFrame($0) })
    }

    /// Sends the result, again after each `resume`, until it is accepted.
    private func deliver(_ result: WorkerMessage, payload: [MessageFrame]) throws(Failure) {
        let deadline = Date(timeIntervalSinceNow: Self.acceptanceSeconds)
        condition.lock()
        defer { condition.unlock() }
        while !cancellation.isInterrupted {
            if !isPaused, !isResultSent {
                try sendChunks()
                if isPaused { continue }
                try send(result, payload: payload)
                isResultSent = true
            }
            if isAccepted || !awaitsAcceptance {
                let seconds = Double(LeaseGauge.now &- started) / 1e9
                end = "done, \(gauge.frameCount) frames in \(String(format: "%.1f", seconds)) s"
                return
            }
            if Date() > deadline { return }
            waits.wrappingAdd(1, ordering: .relaxed)
            _ = condition.wait(until: Date(timeIntervalSinceNow: 0.5))
        }
    }

    private func send(_ message: WorkerMessage, payload: [MessageFrame] = []) throws(Failure) {
        try sender.send(message, payload: payload)
    }
}

/// A lease's chunks in order: those that were sent, kept while they fit into memory, and those that wait.
private struct ChunkOutbox {
    private var frames: [MessageFrame] = []
    /// Number of the first frame that is kept.
    private var base = 0
    private var position = 0
    private var offset: Int64 = 0
    private var kept = 0
    /// Bytes kept at most; a longer segment cannot be sent again.
    private let limit: Int

    /// - Parameter keeps: whether what was sent may be wanted again.
    init(keeps: Bool) { limit = keeps ? 512 << 20 : 0 }

    /// Nothing was let go of.
    var isComplete: Bool { base == 0 }

    var next: (frame: MessageFrame, sequence: Int, offset: Int64)? {
        position - base < frames.count ? (frames[position - base], position, offset) : nil
    }

    mutating func append(_ frame: MessageFrame) {
        frames.append(frame)
        kept += frame.count
    }

    mutating func advance() {
        offset += Int64(frames[position - base].count)
        position += 1
        guard kept > limit, position - base == frames.count else { return }
        frames.removeAll()
        base = position
        kept = 0
    }

    mutating func rewind() {
        guard isComplete else { return }
        position = 0
        offset = 0
    }
}

extension DealerSender {
    /// Encodes and queues a message.
    func send(_ message: WorkerMessage, payload: [MessageFrame] = []) throws(Failure) {
        do {
            let header = try MessageCodec.encode(message, payload: payload.map(\.count))
            try send([MessageFrame(header)] + payload)
        } catch {
            throw Failure(
                .transport, "A message could not be sent: \(error)", advice: "Report this.", retry: .elsewhere,
                fault: .worker)
        }
    }
}
