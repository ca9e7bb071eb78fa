package import ClusterProtocol
internal import Foundation
internal import Media
internal import Stitching
internal import Synchronization

/// One export on this machine, from opening the source to the proved file: coordinator, slots and stitch together.
///
/// `run` blocks: call it on a thread of its own.
package final class ExportSession: Sendable {
    package enum Stage: String, Sendable {
        case opening, planning, encoding, stitching, proving
    }

    private let order: ExportOrder
    private let interrupt: InterruptFlag
    private let telemetry = Telemetry()
    private let stage = Mutex<Stage>(.opening)
    private let board = Mutex<SegmentBoard?>(nil)
    private let stitched = Atomic<Int>(0)
    /// The number of frames is a guess until they are there.
    private let isEstimate = Mutex(false)
    private let total = Mutex<(frames: Int, seconds: Double)>((0, 0))

    package init(_ order: ExportOrder) {
        self.order = order
        interrupt = InterruptFlag()
    }

    /// Ends the export soon: finished segments are kept. From any thread.
    package func cancel() {
        interrupt.interrupt()
        board.withLock { $0 }?.fail(.interrupted)
    }

    // MARK: Watching

    package var currentStage: Stage {
        let stage = stage.withLock { $0 }
        let snapshot = telemetry.snapshot
        let isEncoded = snapshot.segmentsTotal > 0 && snapshot.segmentsDone == snapshot.segmentsTotal
        return stage == .encoding && isEncoded ? .stitching : stage
    }

    package var snapshot: ExportSnapshot {
        var snapshot = telemetry.snapshot
        let total = total.withLock { $0 }
        snapshot.isEstimate = isEstimate.withLock { $0 }
        snapshot.framesExpected = max(total.frames, snapshot.framesDone)
        snapshot.secondsTotal = total.seconds
        snapshot.segmentsStitched = stitched.load(ordering: .relaxed)
        if total.frames > 0 {
            snapshot.secondsDone = total.seconds * Double(snapshot.framesDone) / Double(snapshot.framesExpected)
        }
        return snapshot
    }

    /// Sentences worth reading since the last call.
    package func takeNotices() -> [String] { telemetry.takeNotices() }

    // MARK: Running

    package func run() throws(Failure) -> JobReport {
        let began = Clock.now
        let runner = JobRunner(order: order, interrupt: interrupt)
        let planner = try runner.openSource()
        let output = try runner.openOutput()
        output.vacate()
        try JobDirectory.check(order)
        stage.withLock { $0 = .planning }
        let plan = try runner.plan(planner)
        try refuseUnknownResume(plan)
        isEstimate.withLock { $0 = plan.isEstimate }
        total.withLock { $0 = (plan.expectedFrames, plan.duration.seconds) }
        let encoded =
            plan.recipe.encoder == "copy" ? try copy(plan, runner, output) : try encode(plan, runner, output)
        stage.withLock { $0 = .proving }
        let proof: JobReport.Proof
        do throws(Failure) {
            proof = try runner.finish(plan, stitch: encoded.stitch, output: output)
        } catch {
            // Of a copy nothing is worth keeping.
            if encoded.spool == nil { encoded.directory.remove() }
            throw error
        }
        encoded.directory.remove()
        return runner.report(
            plan, stitch: encoded.stitch, leases: encoded.leases, proof: proof, slots: encoded.slots, began: began,
            lastArrival: encoded.lastArrival)
    }

    /// Finished segments may go on only with the very same source.
    private func refuseUnknownResume(_ plan: PlannedExport) throws(Failure) {
        guard order.resume, !plan.source.fingerprint.isKnown else { return }
        throw Failure(
            .asset,
            "\(order.source) cannot be resumed: its server names no size or gives no ranges, so nothing tells whether the bytes are the same.",
            advice: "Leave out --resume to start from the beginning, or export a copy in a local file.",
            fault: .settings, exitCode: .usage)
    }

    // MARK: Encoding and stitching

    private struct Encoded {
        var stitch: StitchResult
        var leases = LeaseSummary()
        var slots = 0
        /// When the last segment arrived.
        var lastArrival: UInt64
        var directory: JobDirectory
        /// Where the finished segments are kept until the export is done; `nil` where nothing needs keeping.
        var spool: Spool?
    }

    /// Copies the picture as it is: no slot takes part. The directory only tells the next run of a file that a kill leaves.
    private func copy(_ plan: PlannedExport, _ runner: JobRunner, _ output: PartialFile) throws(Failure) -> Encoded {
        let directory = try JobDirectory(plan, order: order, resume: false)
        directory.traces.add(output.path)
        stage.withLock { $0 = .encoding }
        do throws(Failure) {
            let result = try stitch(plan, runner, output, nil)
            return Encoded(stitch: result, lastArrival: Clock.now, directory: directory)
        } catch {
            directory.remove()
            throw error
        }
    }

    private func encode(_ plan: PlannedExport, _ runner: JobRunner, _ output: PartialFile) throws(Failure) -> Encoded {
        let directory = try JobDirectory(plan, order: order, resume: order.resume)
        directory.traces.add(output.path)
        for notice in directory.notices { telemetry.notice(notice) }
        stage.withLock { $0 = .encoding }
        let slots = slotCount(plan)
        let board = SegmentBoard(spool: directory.spool, finished: directory.finished.mapValues(\.hash))
        self.board.withLock { $0 = board }
        if interrupt.isInterrupted { throw Failure.interrupted }
        let cluster = try LocalCluster(
            plan, runner: runner, directory: directory, board: board, telemetry: telemetry, slots: slots)
        defer { cluster.stop() }
        let result = try stitch(plan, runner, output, board)
        cluster.summarize(plan)
        return Encoded(
            stitch: result, leases: telemetry.leases, slots: slots, lastArrival: board.lastArrivalTime,
            directory: directory, spool: directory.spool)
    }

    private func stitch(
        _ plan: PlannedExport, _ runner: JobRunner, _ output: PartialFile, _ supply: (any SegmentSupply)?
    ) throws(Failure) -> StitchResult {
        try runner.stitch(plan, into: output, from: supply) { stitched.store($0, ordering: .relaxed) }
    }

    /// As many as asked for, else cores ÷ threads, bounded by the memory an encoder of this frame size takes and by the number
    /// of segments.
    private func slotCount(_ plan: PlannedExport) -> Int {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let pixels = Double(plan.frameSize.width * plan.frameSize.height)
        // About sixty pictures in look-ahead, queues and references, at two bytes a sample with chroma.
        let memoryEach = 80e6 + pixels * 3 * 60
        let byMemory = Int(Double(ProcessInfo.processInfo.physicalMemory) * 0.7 / memoryEach)
        let automatic = max(1, min(cores / max(1, plan.recipe.threads), byMemory))
        return max(1, min(order.workers ?? automatic, plan.segments.count))
    }
}
