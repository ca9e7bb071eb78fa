internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Media
internal import MediaTime
internal import Scheduling
internal import SegmentPlan
internal import Stitching
internal import Verification

/// The steps of one job around the encoding, the same for an export on this machine and for a job of a cluster: what is
/// submitted to the scheduler, the stitch, the proof and the report. Blocking; used from one thread of the job's own.
struct JobRunner: Sendable {
    let order: ExportOrder
    let interrupt: InterruptFlag

    // MARK: Before

    /// Opens the source: a wrong source is said before a wrong target.
    func openSource() throws(Failure) -> ExportPlanner { try ExportPlanner(order, interrupt: interrupt) }

    /// - Parameter willCreate: told the temporary name before there is such a file.
    func openOutput(willCreate: (String) -> Void = { _ in }) throws(Failure) -> PartialFile {
        do {
            return try PartialFile(
                target: order.destination, overwrites: order.overwrite, willCreate: willCreate)
        } catch {
            throw Failure(error, role: .output)
        }
    }

    func plan(_ planner: ExportPlanner) throws(Failure) -> PlannedExport {
        let plan = try planner.plan()
        if interrupt.isInterrupted { throw Failure.interrupted }
        return plan
    }

    /// What the scheduler is told of the job.
    func spec(_ plan: PlannedExport, id: JobID, priority: Int = 0) -> JobSpec {
        let size = FrameSize(width: plan.frameSize.width, height: plan.frameSize.height)
        let covered = plan.segments.reduce(Int64(0)) { $0 + ($1.end - $1.start) }
        let segments = plan.segments.map { segment in
            let share = Double(segment.end - segment.start) / Double(max(1, covered))
            return SegmentSpec(
                durationTicks: segment.end - segment.start, timeBase: plan.recipe.timeBase, size: size,
                frames: Int((Double(plan.expectedFrames) * share).rounded()))
        }
        var policy = JobPolicy()
        // The node watches its slots more closely; this is for a node that does not.
        policy.stallLimit = Interval(seconds: order.settings.stallSeconds * 2 + 30)
        policy.nodeBudget = 2
        return JobSpec(
            id: id, priority: priority, encoder: plan.recipe.encoder, size: size, segments: segments, policy: policy)
    }

    // MARK: Stitch

    /// Waits for the segments and muxes them.
    /// - Parameters:
    ///   - supply: `nil` where the picture is copied as it is, and no slot takes part.
    ///   - progress: called with the number of segments that are in the file.
    func stitch(
        _ plan: PlannedExport, into output: PartialFile, from supply: (any SegmentSupply)?,
        progress: (Int) -> Void = { _ in }
    ) throws(Failure) -> StitchResult {
        var job = plan.stitch
        job.temporary = output.path
        do throws(Failure) {
            return try Stitcher(job, interrupt: interrupt).run(supply, progress: progress)
        } catch {
            // A source that changed shows itself as a read error, or as times that are not the plan's.
            throw interrupt.isInterrupted ? Failure.interrupted : plan.source.changeSincePlanned() ?? error
        }
    }

    // MARK: Proof

    /// Proves the output against the source, and only then gives it its name.
    /// - Parameter willCommit: called between the two.
    func finish(
        _ plan: PlannedExport, stitch: StitchResult, output: PartialFile,
        willCommit: (JobReport.Proof) throws(Failure) -> Void = { _ in }
    ) throws(Failure) -> JobReport.Proof {
        output.startSync()
        // What was read of a source that changed meanwhile may be of both.
        if let change = plan.source.changeSincePlanned() {
            output.discard()
            throw change
        }
        guard stitch.frames > 0 else {
            output.discard()
            throw showsNothing(plan, stitch)
        }
        let verdict = try prove(plan, stitch: stitch, output: output)
        let proof = verdict.proof
        guard proof.pass else {
            output.discard()
            throw failed(verdict, stitch)
        }
        try willCommit(proof)
        do {
            try output.commit()
        } catch {
            throw Failure(error, role: .output)
        }
        return proof
    }

    private func prove(
        _ plan: PlannedExport, stitch: StitchResult, output: PartialFile
    ) throws(Failure) -> ExportProof.Verdict {
        try plan.refuse(losses: stitch.losses)
        var verdict = try ExportProof(
            output: output.path, timeBase: plan.stitch.timeBase, origin: plan.stitch.origin, shift: stitch.shift,
            slack: stitch.editRounding, moves: stitch.moves, isCopy: plan.stitch.copiesPicture,
            carried: stitch.carried, marks: plan.marks,
            interrupt: interrupt
        ).verdict(segmentCount: plan.segments.count) { (index) throws(Failure) in
            stitch.segmentTimes[index]
        }
        var proof = verdict.proof
        // The file holds what the segments held; whether those held what the source holds was seen while stitching.
        proof.sourceFrames = plan.keepsFrames ? stitch.sourceFrames : proof.outputFrames
        if plan.keepsFrames {
            proof.missing += stitch.missing
            proof.duplicated += stitch.surplus
            proof.pass = proof.pass && stitch.missing == 0 && stitch.surplus == 0
            if stitch.missing + stitch.surplus > 0 {
                let places = stitch.examples.prefix(4).compactMap {
                    try? MediaTime(ticks: $0, in: plan.stitch.timeBase)
                }
                .map { String(format: "%.3f s", $0.seconds) }.joined(separator: ", ")
                verdict.complaints.append(
                    "The segments lack \(stitch.missing) pictures of the source and have \(stitch.surplus) that it has not, "
                        + "first at \(places) of the source.")
            }
        }
        try plan.refuse(losses: proof.lacking)
        verdict.proof = proof
        return verdict
    }

    /// A track without a picture cannot even be opened again.
    private func showsNothing(_ plan: PlannedExport, _ stitch: StitchResult) -> Failure {
        guard plan.keepsFrames || stitch.dropped > 0 else {
            return Failure(
                .filter, "The filter lets no picture through.",
                advice: "Correct --filter: it decides which pictures remain.",
                fault: .settings, exitCode: .usage)
        }
        return Failure(
            .decoder,
            "Not one picture of \(order.source) can be decoded: \(stitch.dropped) samples of it were tried.",
            advice: "The file is damaged, or encrypted without saying so; play it elsewhere, or get it anew.",
            fault: .source, log: stitch.damage.suffix(3).map(\.detail), exitCode: .badSource)
    }

    private func failed(_ verdict: ExportProof.Verdict, _ stitch: StitchResult) -> Failure {
        let proof = verdict.proof
        // A decoder puts pictures in the order that they were coded for; where damaged tables give them the times of others, no file
        // holds both.
        let contradicts = stitch.moved > 0 || !stitch.damage.isEmpty
        return Failure(
            .finalization,
            (contradicts ? "The source is damaged, and its times contradict its pictures. " : "")
                + "The output does not hold what the source holds: \(proof.sourceFrames) source frames, \(proof.outputFrames) in the "
                + "output, \(proof.missing) missing, \(proof.duplicated) twice, largest time error \(proof.maxPTSError) s. "
                + verdict.complaints.joined(separator: " "),
            advice: contradicts
                ? "Nothing was written under the final name. Write the source's container anew with another tool, or leave the "
                    + "damaged part out with --start and --end."
                : "Nothing was written under the final name. Run the same command with --resume to go on from the finished "
                    + "segments, and report this source.",
            retry: contradicts ? .giveUp : .retry, fault: contradicts ? .source : .worker,
            exitCode: contradicts ? .badSource : .jobFailed)
    }

    // MARK: Report

    /// - Parameters:
    ///   - slots: how many worked on it.
    ///   - began, lastArrival: monotonic nanoseconds of the start and of the last segment.
    func report(
        _ plan: PlannedExport, stitch: StitchResult, leases: LeaseSummary, proof: JobReport.Proof, slots: Int,
        began: UInt64, lastArrival: UInt64
    ) -> JobReport {
        let end = Clock.now
        var report = JobReport(job: plan.id, state: .done, output: order.destination, duration: plan.duration)
        report.source = order.source
        report.segments = plan.segments.count
        report.segmentsDone = plan.segments.count
        report.attempts = leases.attempts
        report.frames = stitch.frames
        report.wallSeconds = Double(end &- began) / 1e9
        report.encodeSeconds = leases.encodeSeconds
        report.slots = slots
        report.sourceAccess = leases.sourceAccess.isEmpty ? nil : leases.sourceAccess
        report.checks = leases.checks
        if report.wallSeconds > 0 {
            report.efficiency = min(1, report.encodeSeconds / (report.wallSeconds * Double(max(1, slots))))
        }
        report.tailSeconds = Double(end &- lastArrival) / 1e9
        report.warnings = plan.warnings + stitch.warnings + leases.warnings
        report.losses = plan.losses + stitch.losses + proof.lacking
        report.carried = plan.carried
        report.damage = stitch.damage
        report.videoHash = stitch.videoHash
        report.proof = proof
        report.outputBytes = stitch.bytes
        report.fps = report.wallSeconds > 0 ? Double(report.frames) / report.wallSeconds : 0
        return report
    }
}
