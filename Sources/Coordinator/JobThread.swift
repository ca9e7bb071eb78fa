internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Media
internal import Scheduling
internal import SegmentPlan
internal import Stitching
internal import Synchronization

/// One job of the cluster on a thread of its own: plans, hands the segments to the scheduler, stitches, proves, commits.
final class JobThread: Sendable {
    private let id: JobID
    private let order: StoredOrder
    private let priority: Int
    private let isPaused: Bool
    private let runner: JobRunner
    private let directory: String
    private let store: StoreAccess
    private let link: CoordinatorLink
    private let telemetry = Telemetry()

    /// What the desk is told, on the endpoint's thread.
    struct Reports: Sendable {
        var planned: @Sendable (StoredPlan) -> Void
        var submitted: @Sendable () -> Void
        var ended: @Sendable (Result<JobReport, Failure>) -> Void
    }

    private let reports: Reports

    /// - Parameter directory: the job's own, for its spool.
    init(
        _ job: ServiceJob, interrupt: InterruptFlag, directory: String, store: StoreAccess, link: CoordinatorLink,
        reports: Reports
    ) {
        id = job.id
        order = job.order
        priority = job.priority
        isPaused = job.isPaused
        self.directory = directory
        self.store = store
        self.link = link
        self.reports = reports
        let export = ExportOrder(
            source: order.source, destination: job.destination, settings: order.settings, stated: Set(order.stated),
            overwrite: order.overwrite, stateDirectory: directory, executable: "")
        runner = JobRunner(order: export, interrupt: interrupt)
    }

    func start() {
        let thread = Thread { [self] in
            let result: Result<JobReport, Failure>
            do throws(Failure) {
                result = .success(try run())
            } catch {
                result = .failure(error)
            }
            let reports = reports
            link.perform { _ in reports.ended(result) }
        }
        thread.name = "weft-job"
        thread.stackSize = 8 << 20
        thread.start()
    }

    // MARK: Steps

    private func run() throws(Failure) -> JobReport {
        let began = Clock.now
        let spool = try Spool(directory: directory + "/spool")
        // Attempts that a killed coordinator has left; whoever takes up its lease sends all again.
        spool.clean(keepsSegments: true)
        if let report = try committedReport() { return try finished(report) }
        let planner = try runner.openSource()
        let output = try openOutput()
        var plan = try runner.plan(planner)
        let identity = plan.id
        plan.id = id.text
        try record(plan, identity: identity)
        // A picture that is copied as it is passes through no slot.
        let isCopy = plan.recipe.encoder == "copy"
        let board = isCopy ? nil : try submit(plan, spool: spool)
        plan.warnings += otherSettings
        let stitch = try runner.stitch(plan, into: output, from: board)
        let (leases, runner) = (isCopy ? LeaseSummary() : summary(), runner)
        let lastArrival = board?.lastArrivalTime ?? Clock.now
        var report: JobReport?
        let finishedPlan = plan
        _ = try runner.finish(plan, stitch: stitch, output: output) {
            (proof) throws(Failure) in
            let made = runner.report(
                finishedPlan, stitch: stitch, leases: leases, proof: proof, slots: leases.workers, began: began,
                lastArrival: lastArrival)
            report = made
            // From here on a restart can tell from the target that the job is done.
            try record(made)
        }
        guard let report else { throw Failure.interrupted }
        return try finished(report)
    }

    /// What a reader of the report should know about single segments.
    private var otherSettings: [String] {
        order.overrides.filter { $0.settings != nil && !$0.segments.isEmpty }.map { override in
            let count = override.segments.count
            return "\(count) segment\(count == 1 ? " was" : "s were") rerun with other settings: "
                + SegmentList.words(override.segments) + "."
        }
    }

    private func finished(_ report: JobReport) throws(Failure) -> JobReport {
        let id = id
        try store.use { (store) throws(JobStoreError) in
            try store.transaction { () throws(JobStoreError) in
                try store.updateJob(id, report: try JSONText(report), at: Clock.wall)
                try store.updateJob(id, state: .finished, at: Clock.wall)
            }
        }
        try? FileManager.default.removeItem(atPath: partialNote)
        return report
    }

    private func record(_ report: JobReport) throws(Failure) {
        let id = id
        try store.use { (store) throws(JobStoreError) in
            try store.updateJob(id, report: try JSONText(report), at: Clock.wall)
        }
    }

    // MARK: A run that was cut off

    /// Holds the temporary name of the output, so that a run after a crash can remove it.
    private var partialNote: String { directory + "/partial" }

    private func openOutput() throws(Failure) -> PartialFile {
        var trouble: (any Error)?
        let output = try runner.openOutput { path in
            do {
                try Data(path.utf8).write(to: URL(fileURLWithPath: partialNote), options: .atomic)
                trouble = nil
            } catch {
                trouble = error
            }
        }
        if let trouble {
            output.discard()
            throw Failure(
                .storage, "Cannot write \(partialNote): \(trouble.localizedDescription)",
                advice: "Check the disk under the state directory.", retry: .retry, fault: .environment,
                exitCode: .ioError)
        }
        return output
    }

    /// The report of a run that was killed between its proof and its end, when the output has its name already; else removes
    /// what that run left beside the target.
    private func committedReport() throws(Failure) -> JobReport? {
        guard let data = FileManager.default.contents(atPath: partialNote) else { return nil }
        let partial = String(decoding: data, as: UTF8.self)
        let id = id
        let stored = try store.use { (store) throws(JobStoreError) in
            try store.job(id)?.report?.decoded(as: JobReport.self)
        }
        var from = stat(), to = stat()
        let isThere = stat(partial, &from) == 0
        let hasTarget = stat(runner.order.destination, &to) == 0
        // A name is given by a second link and the removal of the first: both may exist.
        let isCommitted = hasTarget && (!isThere || (from.st_ino == to.st_ino && from.st_dev == to.st_dev))
        if isThere { unlink(partial) }
        if let stored, isCommitted, Int64(to.st_size) == stored.outputBytes { return stored }
        // What was about to be true is not: no later run may take it for that.
        try store.use { (store) throws(JobStoreError) in try store.updateJob(id, report: nil, at: Clock.wall) }
        return nil
    }

    // MARK: Planning

    private func record(_ plan: PlannedExport, identity: String) throws(Failure) {
        let id = id
        let fresh = StoredPlan(
            identity: identity, segments: plan.segments, timeBase: plan.recipe.timeBase, duration: plan.duration,
            expectedFrames: plan.expectedFrames, base: RerunBase(plan))
        let source = plan.source
        let known = try store.use { (store) throws(JobStoreError) -> String? in
            if let record = try store.job(id), record.segmentCount > 0,
                let known = try? record.plan.decoded(as: StoredPlan.self)
            {
                return known.identity
            }
            try store.updateJob(
                id, source: try JSONText(source), plan: try JSONText(fresh), segmentCount: fresh.segments.count,
                at: Clock.wall)
            return nil
        }
        guard known == nil || known == identity else {
            throw Failure(
                .asset, "\(order.source) is not the file that the job began with.",
                advice: "Put the old file back and retry the job, or submit the new one.", fault: .source,
                exitCode: .badSource)
        }
        let reports = reports
        link.perform { _ in reports.planned(fresh) }
    }

    private func reruns(_ plan: PlannedExport) throws(Failure) -> [Int: RerunRecipe] {
        var reruns: [Int: RerunRecipe] = [:]
        for override in order.overrides {
            guard let settings = override.settings, let base = RerunBase(plan) else { continue }
            let rerun = try RerunRecipe(settings, like: base, interrupt: runner.interrupt)
            for segment in override.segments { reruns[segment] = rerun }
        }
        return reruns
    }

    // MARK: Submission

    private func submit(_ plan: PlannedExport, spool: Spool) throws(Failure) -> SegmentBoard {
        let id = id
        let finished = try intactSegments(plan, spool: spool)
        var (progress, attempts, account) = try store.use { (store) throws(JobStoreError) in
            (try store.progress(of: id), try store.leases(of: id).count, try JobAccount.lines(of: id, in: store))
        }
        progress.finished = finished.mapValues(\.hash)
        progress.failed = [:]
        progress.state = isPaused ? .paused : attempts > 0 ? .running : .waiting
        let reruns = try reruns(plan)
        let board = SegmentBoard(spool: spool, finished: [:])
        for rerun in reruns.values { board.expect(rerun.mixing) }
        let link = link
        board.onDamage { index, failure in link.perform { $0.redo(id, index, failure) } }
        var job = JobRuntime(
            id: id, recipe: plan.recipe, source: plan.source, segments: plan.segments, spool: spool, board: board,
            stallSeconds: order.settings.stallSeconds, telemetry: telemetry)
        job.recipes = reruns.mapValues(\.recipe)
        for override in order.overrides {
            for segment in override.segments { job.nodes[segment] = override.node }
        }
        job.fingerprint = order.fingerprint
        job.count(finished.values)
        job.earlierAttempts = attempts
        job.warnings = account
        job.goOn = "`weft retry \(id)` tries them again and keeps what is done."
        let spec = runner.spec(plan, id: id, priority: priority)
        let (submitted, known) = (job, progress)
        let bound = order.overrides.filter { $0.node != nil }
        let reports = reports
        let stored = finished.values.sorted { $0.index < $1.index }
        link.perform { handler in
            handler.submit(submitted, spec: spec, progress: known, bound: bound)
            handler.examineStored(id, stored)
        }
        link.perform { _ in reports.submitted() }
        return board
    }

    /// A done list that lies is worse than none: every file is held against its hash; what is missing or altered runs again.
    private func intactSegments(_ plan: PlannedExport, spool: Spool) throws(Failure) -> [Int: AcceptedSegment] {
        let id = id
        let records = try store.use { (store) throws(JobStoreError) in try store.segments(of: id) }
        var intact: [Int: AcceptedSegment] = [:]
        var open: [Int] = []
        // Where nothing tells whether a URL still gives the bytes that the finished segments were made from, they are made anew.
        let isSameSource = plan.source.fingerprint.isKnown
        for record in records {
            switch record {
            case .pending: break
            case .failed(let index, _): open.append(index)
            case .finished(let segment):
                if isSameSource, SpooledSegment.isIntact(path: spool.path(ofSegment: segment.index), hash: segment.hash)
                {
                    intact[segment.index] = segment
                } else {
                    open.append(segment.index)
                }
            }
        }
        let reopened = open
        if !reopened.isEmpty {
            _ = try store.use { (store) throws(JobStoreError) in try store.reopenSegments(reopened, of: id) }
        }
        return intact
    }

    private func summary() -> LeaseSummary {
        let id = id
        let asked = DispatchSemaphore(value: 0)
        link.perform { handler in
            handler.summarize(id)
            asked.signal()
        }
        _ = asked.wait(timeout: .now() + 10)
        return telemetry.leases
    }
}
