internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Scheduling
internal import SegmentPlan
internal import Stitching

/// The scheduler's fencing number of a lease; on the wire it is part of the lease's name.
typealias Fence = Scheduling.LeaseID

/// One job as the coordinator's endpoint thread knows it.
struct JobRuntime {
    let id: JobID
    let recipe: EncodeRecipe
    let source: SourceReference
    let segments: [Segment]
    let spool: Spool
    let board: SegmentBoard
    let stallSeconds: Double
    let telemetry: Telemetry
    /// Recipes of segments that were rerun with other settings.
    var recipes: [Int: EncodeRecipe] = [:]
    /// Segments that only one node may run.
    var nodes: [Int: String] = [:]
    /// What the recipe makes of the reference frames; `nil` until the first slot has shown it.
    var fingerprint: String?
    /// What the first good result brought, which all segments with the job's own recipe must bring, too.
    var parameterSets: ParameterSets?
    /// Nodes whose results brought others.
    var dissenters: Set<String> = []
    /// Leases whose results are looked at before the stitch may have them, by segment.
    var underCheck: [Int: Fence] = [:]
    /// Results that something speaks against, while no result of the segment is known to be good.
    var doubts: [Int: [ReturnedSegment]] = [:]
    /// What looking cost, and what it found.
    var checks: JobReport.Checks?
    /// Frames and compressed bytes of the accepted segments.
    private(set) var acceptedFrames = 0
    private(set) var acceptedBytes: Int64 = 0
    private var accepted: [Int: (frames: Int, bytes: Int64)] = [:]
    /// Seconds that accepted attempts took on their slots, and where they went.
    var encodeSeconds = 0.0
    var stages = StageSeconds()
    var warnings: [String] = []
    /// Attempts of before the coordinator's last start.
    var earlierAttempts = 0
    /// Slots that have finished a segment.
    var workers: Set<SlotPlace> = []
    /// How each node that was given a lease gets the source.
    var sourceAccess: [String: ClusterProtocol.Lease.Access] = [:]
    /// By node that could not reach the source's server: the newest lease of that moment. Those after it try again.
    var unreached: [String: Fence] = [:]

    /// Segments that were given up, with the reason.
    var failed: [(segment: Int, failure: Failure)] = []
    /// What to do about that.
    var goOn = "The same command with --resume tries them again and keeps what is done."

    init(
        id: JobID, recipe: EncodeRecipe, source: SourceReference, segments: [Segment], spool: Spool,
        board: SegmentBoard, stallSeconds: Double, telemetry: Telemetry
    ) {
        self.id = id
        self.recipe = recipe
        self.source = source
        self.segments = segments
        self.spool = spool
        self.board = board
        self.stallSeconds = stallSeconds
        self.telemetry = telemetry
    }

    /// Why the job cannot be completed; `nil` while no segment was given up.
    var failure: Failure? {
        guard let first = failed.first else { return nil }
        var failure = first.failure
        let share = "\(failed.count) of \(segments.count) segments"
        failure.message = "\(share) could not be made. Segment \(first.segment): \(first.failure.message)"
        failure.advice = failure.advice.isEmpty ? goOn : "\(failure.advice) \(goOn)"
        // The settings were taken, and other segments may be done with them.
        if failure.exitCode == .usage { failure.exitCode = .jobFailed }
        return failure
    }

    func recipe(ofSegment index: Int) -> EncodeRecipe { recipes[index] ?? recipe }

    mutating func accept(_ segment: Int, frames: Int, bytes: Int64) {
        withdraw(segment)
        accepted[segment] = (frames, bytes)
        acceptedFrames += frames
        acceptedBytes += bytes
    }

    /// The segment is to be made anew.
    mutating func withdraw(_ segment: Int) {
        guard let old = accepted.removeValue(forKey: segment) else { return }
        acceptedFrames -= old.frames
        acceptedBytes -= old.bytes
    }

    /// Counts what an earlier run has finished.
    mutating func count(_ finished: some Sequence<AcceptedSegment>) {
        for segment in finished {
            accept(segment.index, frames: segment.frames, bytes: segment.bytes)
            encodeSeconds += segment.encodeSeconds
            workers.insert(SlotPlace(segment.worker))
        }
    }
}

/// A segment that a slot returned, once it is durable.
struct ReturnedSegment: Sendable {
    var index: Int
    var lease: Fence
    var worker: WorkerID
    /// Over samples, table and format: equal bytes.
    var fileHash: String
    var parameterSets: ParameterSets?
    /// It is known to be wrong, and not only doubted.
    var isDisproved = false

    /// Another node has made the same.
    func hasBytes(of other: ReturnedSegment) -> Bool {
        fileHash == other.fileHash && worker.node != other.worker.node
    }
}

/// A slot, whichever process is in it.
struct SlotPlace: Hashable, Sendable {
    let node: String
    let slot: Int

    init(_ worker: WorkerID) {
        node = worker.node
        slot = worker.slot
    }
}

/// A lease in the hands of a slot.
struct OpenLease {
    let grant: Grant
    let spool: Spool
    let receiver: SegmentReceiver
    let began = Clock.now
    var progress: ClusterProtocol.Progress?
    var chunks = ChunkSequence()
    var window = CreditWindow(size: OpenLease.credit)
    /// The number of the source's stream that the slot asked for last.
    var stream: Int?
    var result: SegmentResult?
    /// Of the stored result's file.
    var fileHash: String?

    init(_ grant: Grant, spool: Spool) {
        self.grant = grant
        self.spool = spool
        receiver = SegmentReceiver(spool: spool, segment: grant.segment, lease: grant.lease.number)
    }

    /// Bytes of a lease's samples that may be on the way or wait for the disk.
    static let credit: Int64 = 8 << 20

    /// - Throws: when the slot left something out, repeated it, or sent more than it was granted.
    mutating func accept(_ chunk: Chunk, bytes: Int) throws(ProtocolError) {
        try window.receive(bytes)
        try chunks.accept(chunk, bytes: bytes)
    }

    var frames: Int { result?.frames ?? progress?.frames ?? 0 }
    var bytes: Int64 { result?.bytes ?? progress?.bytes ?? 0 }
    var seconds: Double { Double(Clock.now &- began) / 1e9 }
}

/// Collects one attempt's samples into its spool file. Used on the storage thread alone, where it lives and dies.
final class SegmentReceiver: @unchecked Sendable {
    private let spool: Spool
    private let segment: Int
    private let lease: UInt64
    private var writer: SpoolWriter?
    private var failure: Failure?

    init(spool: Spool, segment: Int, lease: UInt64) {
        self.spool = spool
        self.segment = segment
        self.lease = lease
    }

    private func openWriter() throws(Failure) -> SpoolWriter {
        if let failure { throw failure }
        if let writer { return writer }
        let opened = try spool.makeWriter(segment: segment, lease: lease)
        writer = opened
        return opened
    }

    /// Remembers what went wrong; the result that follows is then refused with it.
    func append(_ bytes: UnsafeRawBufferPointer) {
        do throws(Failure) {
            try openWriter().append(bytes)
        } catch {
            failure = failure ?? error
            writer?.cancel()
            writer = nil
        }
    }

    /// - Returns: the hash of the whole file, and its size.
    /// - Parameter times: what the segment owns.
    func finish(
        _ result: SegmentResult, archive: [UInt8], table: [UInt8], times: Range<Int64>
    ) throws(Failure) -> (hash: String, bytes: Int64) {
        let writer = try openWriter()
        self.writer = nil
        do throws(Failure) {
            let hash = try writer.finish(
                table: table, archive: archive, expectedHash: result.hash, samples: result.samples, times: times)
            return (hash, result.bytes + Int64(table.count + archive.count))
        } catch {
            writer.cancel()
            throw error
        }
    }

    func cancel() {
        writer?.cancel()
        writer = nil
        failure = failure ?? Failure.interruptedLease
    }
}

extension Failure {
    fileprivate static let interruptedLease = Failure(
        .cancelled, "The lease had ended.", retry: .retry, fault: .environment)
}
