internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Media
internal import Messaging
internal import Scheduling

/// Serves the clients of a cluster and keeps its jobs: takes them in, starts them, remembers what became of them.
///
/// Lives on the endpoint's thread; whatever blocks goes to the storage thread or to the job's own.
final class ClientDesk: CoordinatorDesk {
    unowned let handler: CoordinatorHandler
    let log: AttemptLog
    let roots: Roots
    let directory: String
    var jobs: [JobID: ServiceJob] = [:]
    /// In the order of their submission.
    var order: [JobID] = []
    var followers: [Follower] = []
    /// Events up to this one were sent to the followers.
    var lastEvent: Int64 = 0
    /// What is kept of jobs that are over.
    let spools: SpoolPolicy
    /// Jobs that are over, and about to run again.
    var reopening: Set<JobID> = []
    /// The spools hold more than they may, and nothing can be done about it.
    var isAboveLimit = false
    private var hasBegun = false
    private var lastCleaning = Clock.now

    /// Jobs that are planned, encoded or stitched at the same time; each takes a thread.
    private static let activeLimit = 32

    /// A client that asked for events as they happen.
    struct Follower {
        var peer: PeerIdentity
        var request: Int
        var job: JobID?
    }

    /// - Parameters:
    ///   - directory: the coordinator's state.
    ///   - spools: what is kept of jobs that are over.
    ///   - known: the jobs of before the last start, in the order of their submission.
    init(
        _ handler: CoordinatorHandler, directory: String, roots: Roots, spools: SpoolPolicy, known: [ServiceJob]
    ) {
        self.handler = handler
        self.spools = spools
        self.directory = directory
        self.roots = roots
        log = AttemptLog(store: handler.store, storage: handler.storage, link: handler.link)
        for job in known {
            jobs[job.id] = job
            order.append(job.id)
        }
        log.tell = { [unowned handler] id, line in
            guard var lines = handler.jobs[id]?.warnings else { return }
            JobAccount.append(line, to: &lines)
            handler.jobs[id]?.warnings = lines
        }
    }

    /// Goes on with the jobs of before the last start. Not in `init`: the endpoint has to be there.
    func begin() {
        for id in order where jobs[id]?.isOver == false {
            log.note("recovered", job: id, "The coordinator was started again; finished segments are kept.")
        }
        log.flush()
        admit()
        hasBegun = true
        SpoolRemoval.finish(in: directory + "/jobs")
        cleanSpools()
    }

    func end() { log.flush() }

    // MARK: Starting jobs

    /// Starts queued jobs, by priority and then age, as far as there is room.
    func admit() {
        var active = jobs.values.count { !$0.isOver && $0.phase != .queued && !$0.isPaused }
        let waiting = order.filter { jobs[$0]?.phase == .queued && jobs[$0]?.isPaused == false }
            .sorted { (jobs[$0]?.priority ?? 0) > (jobs[$1]?.priority ?? 0) }
        for id in waiting where active < Self.activeLimit {
            start(id)
            active += 1
        }
    }

    private func start(_ id: JobID) {
        guard var job = jobs[id] else { return }
        let interrupt = InterruptFlag()
        job.interrupt = interrupt
        job.phase = .planning
        job.failure = nil
        job.report = nil
        job.isCancelled = false
        job.began = Clock.now
        jobs[id] = job
        log.note("planning", job: id, "The source is opened and planned.")
        let link = handler.link
        let desk = DeskReference(self)
        let reports = JobThread.Reports(
            planned: { desk.value?.planned(id, $0) }, submitted: { desk.value?.submitted(id) },
            ended: { desk.value?.ended(id, $0) })
        JobThread(
            job, interrupt: interrupt, directory: jobDirectory(id),
            store: StoreAccess(box: handler.store, thread: handler.storage), link: link, reports: reports
        ).start()
    }

    func jobDirectory(_ id: JobID) -> String { directory + "/jobs/" + id.text }

    private func planned(_ id: JobID, _ plan: StoredPlan) { jobs[id]?.plan = plan }

    func isPlanning(_ id: JobID) -> Bool {
        guard let job = jobs[id] else { return false }
        return job.phase == .planning || (job.phase == .queued && !hasBegun && !job.isPaused)
    }

    private func submitted(_ id: JobID) {
        defer { handler.releaseHellos(of: id) }
        guard let job = jobs[id], job.phase == .planning else { return }
        // All segments may have been there already.
        jobs[id]?.phase = handler.scheduler.jobStatus(id)?.state == .finished ? .stitching : .running
        log.note("started", job: id, "\(job.plan?.segments.count ?? 0) segments.")
        // What was asked while it was planned.
        if job.isCancelled { return handler.handle(.jobCancelled(id)) }
        if job.isPaused { handler.handle(.jobPaused(id)) }
        persist(id)
    }

    // MARK: Ends

    func settled(_ id: JobID, _ state: JobState) {
        guard state == .finished, jobs[id]?.isOver == false else { return }
        jobs[id]?.phase = .stitching
        log.note("stitching", job: id, "All segments are there.")
    }

    func lost(_ id: JobID, segment: Int, _ failure: Failure) {
        if jobs[id]?.phase == .stitching { jobs[id]?.phase = .running }
        log.note("spool_damaged", job: id, segment: segment, "\(failure.message) The segment runs again.")
    }

    func disproved(_ id: JobID, _ returned: ReturnedSegment, _ failure: Failure) {
        if jobs[id]?.phase == .stitching { jobs[id]?.phase = .running }
        log.note(
            "disproved", job: id, segment: returned.index, worker: returned.worker,
            "\(failure.message) The segment runs again.")
    }

    func confirmed(_ id: JobID, _ returned: ReturnedSegment, like other: WorkerID) {
        log.note(
            "confirmed", job: id, segment: returned.index, worker: returned.worker,
            "Its bytes are those that \(other.node)/\(other.slot) had returned, which were doubted: both are right.")
    }

    func outvoted(_ id: JobID, _ returned: ReturnedSegment, by other: WorkerID) {
        log.note(
            "nondeterminism", job: id, segment: returned.index, worker: returned.worker,
            "Its bytes differ from those of \(other.node)/\(other.slot), which are kept.")
    }

    func unchecked(_ id: JobID, _ returned: ReturnedSegment, _ reason: String) {
        // Once: the same is in the way of all of them.
        guard jobs[id]?.isUnchecked == false else { return }
        jobs[id]?.isUnchecked = true
        log.note("unchecked", job: id, "What slots return cannot be checked on the coordinator's machine: \(reason)")
    }

    private func ended(_ id: JobID, _ result: Result<JobReport, Failure>) {
        guard let job = jobs[id], !job.isOver else { return }
        var report = report(of: job)
        switch result {
        case .success(let made):
            report = made
            report.priority = job.priority
            jobs[id]?.phase = .over(.finished)
            log.note("done", job: id, "The output is proved and has its name.")
        case .failure(var failure):
            if job.order.hasOutput == true {
                failure.advice += " \(job.destination) is still the file of before; it was not touched."
            }
            jobs[id]?.phase = .over(job.isCancelled ? .cancelled : .failed)
            jobs[id]?.failure = job.isCancelled ? nil : failure
            report.failure = job.isCancelled ? nil : failure
            log.note(job.isCancelled ? "cancelled" : "failed", job: id, failure.message)
        }
        jobs[id]?.interrupt = nil
        jobs[id]?.ended = Clock.wall
        handler.forget(id)
        handler.releaseHellos(of: id)
        if let ended = jobs[id] { report.state = ended.state }
        report.etaSeconds = nil
        jobs[id]?.report = report
        persist(id)
        admit()
        cleanSpools()
    }

    /// Writes the job's state, order and report.
    func persist(_ id: JobID) {
        guard let job = jobs[id] else { return }
        log.flush()
        let state = job.storedState
        let (order, report, failure) = (job.order, job.report, job.failure)
        let store = handler.store
        handler.storage.perform {
            do throws(Failure) {
                try store.use { (store) throws(JobStoreError) in
                    try store.transaction { () throws(JobStoreError) in
                        try store.updateJob(id, settings: try JSONText(order), at: Clock.wall)
                        let text = try report.map { report throws(JobStoreError) in try JSONText(report) }
                        // A run that is not over has a report only when it is about to be; that one is not ours.
                        if text != nil || state == .waiting { try store.updateJob(id, report: text, at: Clock.wall) }
                        try store.updateJob(id, state: state, failure: failure, at: Clock.wall)
                    }
                }
            } catch {
                FileHandle.standardError.write(Data("weft: job \(id) was not written: \(error.message)\n".utf8))
            }
        }
    }

    // MARK: Notes

    func noted(_ action: Action) {
        switch action {
        case .grant(let grant): log.grant(grant)
        // The grant has to be in the store before its result is.
        case .store: log.flush()
        case .segmentFinished(let job, let segment, let fence):
            log.note("accepted", job: job, segment: segment, worker: handler.leases[fence]?.grant.worker, "accepted")
        case .segmentFailed(let job, let segment, let failure):
            log.fail(job, segment, failure)
            log.note("segment_failed", job: job, segment: segment, failure.message)
        case .nondeterminism(let job, let segment, let kept, let other):
            log.note(
                "nondeterminism", job: job, segment: segment, worker: other.worker,
                "Its bytes differ from those of \(kept.worker.node)/\(kept.worker.slot), which are kept.")
        case .quarantine(let node, let encoder, let until, let failure): quarantined(node, encoder, until, failure)
        case .record(let occurrence): noted(occurrence)
        case .revoke(let fence, let worker, .superseded): overtaken(fence, worker)
        case .revoke, .discard, .jobChanged: break
        }
    }

    /// A second slot was faster: worth a word where the first one was not just slow.
    private func overtaken(_ fence: Fence, _ worker: WorkerID) {
        guard let grant = handler.leases[fence]?.grant, let silence = handler.silence(of: worker),
            silence > CoordinatorHandler.heartbeatSeconds * 1.5
        else { return }
        log.note(
            "overtaken", job: grant.job, segment: grant.segment, worker: worker,
            "Nothing was heard from the slot for \(Int(silence.rounded())) s when another one finished the segment.")
    }

    private func quarantined(_ node: String, _ encoder: String, _ until: Instant, _ failure: Failure) {
        let words = quarantineWords(node, encoder, until: until, failure)
        log.note("quarantined", node: node, words)
        // The jobs that it may have worked for tell it, too.
        for (id, job) in handler.jobs where job.recipe.encoder == encoder {
            log.note("quarantined", job: id, node: node, words)
        }
    }

    func quarantineWords(_ node: String, _ encoder: String, until: Instant, _ failure: Failure) -> String {
        let seconds = max(0, Int((until - handler.now).seconds.rounded(.up)))
        let time = until == .never ? "until `weft workers release \(node)`" : "for \(seconds) s"
        return "No more \(encoder) work \(time): \(failure.message)"
    }

    func reconnected(_ grant: Grant) {
        log.note(
            "reconnected", job: grant.job, segment: grant.segment, worker: grant.worker,
            "The slot's connection had broken; it connected again and went on.")
    }

    func storageMended(after seconds: Double) {
        for id in handler.jobs.keys {
            log.note("released_hold", job: id, "Results could be stored again after \(Int(seconds.rounded())) s.")
        }
    }

    private func noted(_ occurrence: Occurrence) {
        switch occurrence {
        case .leaseEnded(let fence, let worker, let job, let segment, let state, let failure):
            guard state != .finished else { return }
            log.end(fence, state, failure, frames: handler.leases[fence]?.frames ?? 0)
            let kind =
                switch failure?.boundary {
                case .transport where failure?.fault != .worker: "lost"
                // Told once for all of them (`held`).
                case .storage: "not_stored"
                default: "attempt_failed"
                }
            if let failure { log.note(kind, job: job, segment: segment, worker: worker, failure.message) }
        case .reattached(_, let worker, let job, let segment):
            log.note("reattached", job: job, segment: segment, worker: worker, "The slot came back with its lease.")
        case .workerJoined(let worker): log.note("joined", worker: worker, "The slot joined.")
        case .workerLost(let worker, let failure): log.note("left", worker: worker, failure.message)
        case .nodeReleased(let node): log.note("released", node: node, "The node gets work again.")
        case .nodeDrained(let node, let drains):
            log.note(drains ? "draining" : "released", node: node, drains ? "No new leases." : "Leases again.")
        case .nodeBarred(let job, let node, let failure): log.note("barred", job: job, node: node, failure.message)
        case .jobHeld(let job, _, let failure):
            log.note("held", job: job, "Results cannot be stored; the job waits and tries again. \(failure.message)")
        case .ignored: break
        }
    }

    func proved(_ id: JobID, fingerprint: String) {
        jobs[id]?.order.fingerprint = fingerprint
        persist(id)
    }

    func tick() {
        if !log.isEmpty {
            log.flush()
            publishEvents()
        }
        if Clock.now &- lastCleaning > 60_000_000_000 {
            lastCleaning = Clock.now
            cleanSpools()
        }
    }
}

extension ServiceJob {
    var storedState: JobState {
        switch phase {
        case .over(let state): state
        case .queued: isPaused ? .paused : .waiting
        case .planning, .running, .stitching: isPaused ? .paused : .running
        }
    }
}
