internal import ClusterProtocol
internal import Foundation
internal import Media
internal import Messaging
internal import SourceAccess
internal import Synchronization

/// One lease at work on its own thread: runs the pipeline, cuts the samples into chunks, and spends credit to send them.
final class LeaseRun: SampleSink, @unchecked Sendable {
    let lease: Lease
    let gauge = LeaseGauge()
    let cancellation = InterruptFlag()
    private let sender: DealerSender
    private let started = LeaseGauge.now

    // Guarded by `condition`.
    private let condition = NSCondition()
    private var credit: Int64

    // Touched by the thread that calls `append`, and by `finish` after that.
    private var chunk: [UInt8] = []
    private var hash = ContentHash()
    private var table = SampleTable()
    private var sequence = 0
    private var sent: Int64 = 0

    /// Counts the waits for credit: a slot that waits for the coordinator is not hung.
    private let waits = Atomic<Int>(0)

    init(_ lease: Lease, sender: DealerSender) {
        self.lease = lease
        self.sender = sender
        credit = lease.credit
        chunk.reserveCapacity(lease.chunkBytes)
    }

    /// Rises as long as anything moves: what a supervisor looks at to tell slow from hung.
    var work: Int64 {
        Int64(gauge.frameCount) &+ gauge.byteCount &+ gauge.bytesReadCount &+ Int64(waits.load(ordering: .relaxed))
    }

    func add(credit bytes: Int64) {
        condition.lock()
        credit += bytes
        condition.broadcast()
        condition.unlock()
    }

    func cancel() {
        cancellation.interrupt()
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// Runs the lease and sends its result or its failure.
    func run(_ source: SourceSession) {
        do throws(Failure) {
            let pipeline = SegmentPipeline(
                recipe: lease.recipe, segment: lease.segment, source: source, gauge: gauge, cancellation: cancellation)
            let outcome = try pipeline.run(into: self)
            try finish(outcome)
        } catch {
            report(error)
        }
    }

    func report(_ failure: Failure) {
        guard !cancellation.isInterrupted else { return }
        try? send(.failed(LeaseFailed(lease: lease.lease, failure: failure, frames: gauge.frameCount)))
    }

    // MARK: SampleSink

    func append(_ sample: Sample) throws(Failure) {
        var flags: SampleTable.Flags = sample.isSync ? .sync : []
        if sample.isCorrupt { flags.insert(.corrupt) }
        let number = table.entries.count
        table.entries.append(
            SampleTable.Entry(
                pts: sample.pts ?? SampleTable.noTime, dts: sample.dts ?? SampleTable.noTime, duration: sample.duration,
                size: UInt32(sample.size), flags: flags))
        // What an encoder hands out beside its samples (statistics, buffer fullness) is its own affair; a copy keeps everything.
        if lease.recipe.encoder == "copy" {
            for attachment in sample.attachments {
                table.attachments.append(
                    SampleTable.Attachment(sample: number, kind: attachment.kind.rawValue, bytes: attachment.bytes))
            }
        }
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
        try spend(Int64(chunk.count))
        hash.update(chunk)
        let message = WorkerMessage.chunk(Chunk(lease: lease.lease, sequence: sequence, offset: sent))
        try send(message, payload: [MessageFrame(chunk)])
        sent += Int64(chunk.count)
        sequence += 1
        chunk.removeAll(keepingCapacity: true)
    }

    private func spend(_ bytes: Int64) throws(Failure) {
        condition.lock()
        defer { condition.unlock() }
        while credit < bytes, !cancellation.isInterrupted {
            waits.wrappingAdd(1, ordering: .relaxed)
            _ = condition.wait(until: Date(timeIntervalSinceNow: 0.5))
        }
        if cancellation.isInterrupted { throw Failure.interrupted }
        credit -= bytes
    }

    // MARK: Result

    private func finish(_ outcome: SegmentPipeline.Outcome) throws(Failure) {
        try flush()
        table.add(unshown: outcome.unshown)
        let times = table.entries.map(\.pts).filter { $0 != SampleTable.noTime }
        let result = SegmentResult(
            lease: lease.lease, frames: outcome.frames, samples: table.entries.count, bytes: sent, hash: hash.finish(),
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
        try send(.result(result), payload: frames.map { MessageFrame($0) })
    }

    private func send(_ message: WorkerMessage, payload: [MessageFrame] = []) throws(Failure) {
        try sender.send(message, payload: payload)
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
