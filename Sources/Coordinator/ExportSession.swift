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
        case opening, planning, encoding, proving
    }

    private let order: ExportOrder
    private let interrupt: InterruptFlag
    private let telemetry = Telemetry()
    private let stage = Mutex<Stage>(.opening)
    private let board = Mutex<SegmentBoard?>(nil)
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

    package var currentStage: Stage { stage.withLock { $0 } }

    package var snapshot: ExportSnapshot {
        var snapshot = telemetry.snapshot
        let total = total.withLock { $0 }
        snapshot.framesExpected = max(total.frames, snapshot.framesDone)
        snapshot.secondsTotal = total.seconds
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
        let output = try runner.openOutput()
        stage.withLock { $0 = .planning }
        let plan = try runner.plan()
        total.withLock { $0 = (plan.expectedFrames, plan.duration.seconds) }
        let directory = try JobDirectory(plan, order: order, resume: order.resume)
        let board = SegmentBoard(spool: directory.spool, finished: Set(directory.finished.keys))
        self.board.withLock { $0 = board }
        if interrupt.isInterrupted { throw Failure.interrupted }
        stage.withLock { $0 = .encoding }
        let slots = slotCount(plan)
        let cluster = try LocalCluster(
            plan, runner: runner, directory: directory, board: board, telemetry: telemetry, slots: slots)
        let stitch: StitchResult
        do throws(Failure) {
            stitch = try runner.stitch(plan, into: output, from: board)
        } catch {
            cluster.stop(plan)
            throw error
        }
        cluster.stop(plan)
        stage.withLock { $0 = .proving }
        let proof = try runner.finish(plan, stitch: stitch, spool: directory.spool, output: output)
        directory.remove()
        return runner.report(
            plan, stitch: stitch, leases: telemetry.leases, proof: proof, slots: slots, began: began,
            lastArrival: board.lastArrivalTime)
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
