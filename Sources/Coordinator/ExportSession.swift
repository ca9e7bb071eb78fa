package import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Media
internal import MediaTime
internal import Messaging
internal import Scheduling
internal import SegmentPlan
internal import Stitching
internal import Synchronization
internal import Verification
internal import Worker

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
        let planner = try ExportPlanner(order, interrupt: interrupt)
        let output: PartialFile
        do {
            output = try PartialFile(target: order.destination, overwrites: order.overwrite)
        } catch {
            throw Failure(error, role: .output)
        }
        try JobDirectory.check(order)
        stage.withLock { $0 = .planning }
        let plan = try planner.plan()
        if interrupt.isInterrupted { throw Failure.interrupted }
        total.withLock { $0 = (plan.expectedFrames, plan.duration.seconds) }
        let encoded = plan.recipe.encoder == "copy" ? try copy(plan, output) : try encode(plan, output)
        output.startSync()
        stage.withLock { $0 = .proving }
        let proof = try prove(plan, encoded: encoded, output: output)
        guard proof.pass else {
            output.discard()
            throw failed(proof)
        }
        do {
            try output.commit()
        } catch {
            throw Failure(error, role: .output)
        }
        encoded.directory?.remove()
        return report(plan, encoded: encoded, proof: proof, began: began)
    }

    // MARK: Encoding and stitching

    private struct Encoded {
        var stitch: StitchResult
        var leases = LeaseSummary()
        var slots = 0
        /// When the last segment arrived.
        var lastArrival: UInt64
        /// Where the finished segments are kept until the export is done; `nil` where nothing needs keeping.
        var directory: JobDirectory?
        /// Times of a segment's pictures, sorted.
        var times: (Int) throws(Failure) -> [Int64]
    }

    /// Copies the picture as it is: no slot takes part.
    private func copy(_ plan: PlannedExport, _ output: PartialFile) throws(Failure) -> Encoded {
        stage.withLock { $0 = .encoding }
        let result = try stitch(plan, output, nil)
        return Encoded(stitch: result, lastArrival: Clock.now, times: { result.copiedTimes[$0] })
    }

    private func encode(_ plan: PlannedExport, _ output: PartialFile) throws(Failure) -> Encoded {
        let directory = try JobDirectory(plan, order: order, resume: order.resume)
        directory.traces.add(output.path)
        for notice in directory.notices { telemetry.notice(notice) }
        stage.withLock { $0 = .encoding }
        let slots = slotCount(plan)
        let board = SegmentBoard(spool: directory.spool, finished: Set(directory.finished.keys))
        self.board.withLock { $0 = board }
        if interrupt.isInterrupted { throw Failure.interrupted }
        let cluster = try LocalCluster(
            plan, directory: directory, board: board, telemetry: telemetry, slots: slots, order: order)
        defer { cluster.stop() }
        let result = try stitch(plan, output, board)
        cluster.summarize(plan)
        let spool = directory.spool
        return Encoded(
            stitch: result, leases: telemetry.leases, slots: slots, lastArrival: board.lastArrivalTime,
            directory: directory
        ) { (index) throws(Failure) in try spool.openSegment(index).presentationTimes.sorted() }
    }

    private func stitch(
        _ plan: PlannedExport, _ output: PartialFile, _ supply: (any SegmentSupply)?
    ) throws(Failure) -> StitchResult {
        var job = plan.stitch
        job.temporary = output.path
        do throws(Failure) {
            return try Stitcher(job, interrupt: interrupt).run(supply) { count in
                stitched.store(count, ordering: .relaxed)
            }
        } catch {
            throw interrupt.isInterrupted ? Failure.interrupted : error
        }
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

    // MARK: Proof

    private func prove(
        _ plan: PlannedExport, encoded: Encoded, output: PartialFile
    ) throws(Failure) -> JobReport.Proof {
        let stitch = encoded.stitch
        try plan.refuse(losses: stitch.losses)
        var proof = try ExportProof(
            output: output.path, timeBase: plan.stitch.timeBase, origin: plan.stitch.origin, shift: stitch.shift,
            slack: stitch.largestMove, interrupt: interrupt
        ).verdict(segmentCount: plan.segments.count) { try encoded.times($0) }.proof
        // The file holds what the segments held; whether those held what the source holds was seen while stitching.
        proof.sourceFrames = plan.keepsFrames ? stitch.sourceFrames : proof.outputFrames
        if plan.keepsFrames {
            proof.missing += stitch.missing
            proof.duplicated += stitch.surplus
            proof.pass = proof.pass && stitch.missing == 0 && stitch.surplus == 0
        }
        return proof
    }

    private func failed(_ proof: JobReport.Proof) -> Failure {
        Failure(
            .finalization,
            "The output does not hold what the source holds: \(proof.sourceFrames) source frames, \(proof.outputFrames) in the "
                + "output, \(proof.missing) missing, \(proof.duplicated) twice, largest time error \(proof.maxPTSError) s.",
            advice:
                "Nothing was written under the final name. Run the same command with --resume to go on from the finished "
                + "segments, and report this source.", retry: .retry, fault: .source)
    }

    // MARK: Report

    private func report(
        _ plan: PlannedExport, encoded: Encoded, proof: JobReport.Proof, began: UInt64
    ) -> JobReport {
        let end = Clock.now
        var report = JobReport(job: plan.id, state: .done, output: order.destination, duration: plan.duration)
        report.source = order.source
        report.segments = plan.segments.count
        report.segmentsDone = plan.segments.count
        report.attempts = encoded.leases.attempts
        report.frames = encoded.stitch.frames
        report.wallSeconds = Double(end &- began) / 1e9
        report.encodeSeconds = encoded.leases.encodeSeconds
        report.slots = encoded.slots
        if report.wallSeconds > 0 {
            report.efficiency = min(1, report.encodeSeconds / (report.wallSeconds * Double(max(1, encoded.slots))))
        }
        report.tailSeconds = Double(end &- encoded.lastArrival) / 1e9
        report.warnings = plan.warnings + encoded.stitch.warnings + encoded.leases.warnings
        report.losses = plan.losses + encoded.stitch.losses
        report.videoHash = encoded.stitch.videoHash
        report.proof = proof
        report.outputBytes = encoded.stitch.bytes
        report.fps = report.wallSeconds > 0 ? Double(report.frames) / report.wallSeconds : 0
        return report
    }
}
