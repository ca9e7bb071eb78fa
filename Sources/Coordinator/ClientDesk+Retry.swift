internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Media
internal import Messaging
internal import Scheduling

/// Segments that run again, with other settings or elsewhere if so asked.
extension ClientDesk {
    /// What was asked, checked as far as the desk can.
    struct Retry: Sendable {
        let job: JobID
        /// Segments that were named; empty for all that are not finished.
        var named: [Int]
        let wasOver: Bool
        let settings: ExportSettings?
        let node: String?
        let request: Int
        let peer: PeerIdentity
    }

    func retry(_ job: ServiceJob, _ control: Control, _ peer: PeerIdentity) throws(Failure) {
        try check(control, job)
        var settings: ExportSettings?
        if let fresh = control.settings, !control.stated.isEmpty {
            settings = job.order.settings.overridden(by: fresh, stated: control.stated)
        }
        var retry = Retry(
            job: job.id, named: control.segments, wasOver: job.isOver, settings: settings, node: control.node,
            request: control.request,
            peer: peer)
        if !job.isOver { retry.named = try failedSegments(job, control.segments) }
        guard let settings, let base = job.plan?.base else { return reopen(retry, nil) }
        // What does not fit is refused before anything of the job is touched.
        let (sender, link, asked) = (handler.sender, handler.link, retry)
        let desk = DeskReference(self)
        Thread.detachNewThread {
            do throws(Failure) {
                let rerun = try RerunRecipe(settings, like: base, interrupt: InterruptFlag())
                link.perform { _ in desk.value?.reopen(asked, rerun) }
            } catch {
                sender.reply(.failure(RequestFailed(request: asked.request, failure: error)), to: asked.peer)
            }
        }
    }

    private func check(_ control: Control, _ job: ServiceJob) throws(Failure) {
        let foreign = Set(control.stated).subtracting(ExportSettings.rerunOptions).sorted()
        guard foreign.isEmpty else {
            throw Failure(
                .format, "--\(foreign[0]) decides the whole file and cannot change for a rerun.",
                advice: "Submit a new job.", fault: .settings, exitCode: .usage)
        }
        if let count = job.plan?.segments.count, let wrong = control.segments.first(where: { $0 >= count }) {
            throw .unknownSegment(wrong, of: job.id, last: count - 1)
        }
        if let node = control.node, !handler.peers.hasNode(node) {
            throw Failure(
                .resources, "No node \(node) is connected.", advice: "`weft workers` lists those that are.",
                retry: .retry, fault: .settings, exitCode: .temporary)
        }
    }

    /// A job at work gives back only what it has given up.
    private func failedSegments(_ job: ServiceJob, _ named: [Int]) throws(Failure) -> [Int] {
        let failed = handler.scheduler.segmentStatus(job.id).filter { $0.state == .failed }.map(\.index)
        let wanted = named.isEmpty ? failed : Array(Set(named)).sorted()
        guard job.phase == .running, !wanted.isEmpty, Set(wanted).isSubset(of: failed) else {
            let what =
                named.isEmpty
                ? "and none of its segments has failed" : "and only segments that failed can run again now"
            throw Failure(
                .resources, "Job \(job.id) is still \(job.state.rawValue), \(what).",
                advice: "Wait for its end, or cancel it first; finished segments are kept.", retry: .retry,
                fault: .settings, exitCode: .temporary)
        }
        return wanted
    }

    /// Makes the segments pending in the store; all else follows from that.
    private func reopen(_ retry: Retry, _ rerun: RerunRecipe?) {
        let (store, link, sender) = (handler.store, handler.link, handler.sender)
        let desk = DeskReference(self)
        log.flush()
        handler.storage.perform {
            do throws(Failure) {
                let chosen = try store.use { (store) throws(JobStoreError) in
                    try Self.reopen(retry.named, of: retry.job, in: store)
                }
                link.perform { _ in desk.value?.start(retry, chosen, rerun) }
            } catch {
                sender.reply(.failure(RequestFailed(request: retry.request, failure: error)), to: retry.peer)
            }
        }
    }

    /// - Returns: the segments that run again: those named, else all that are not finished.
    private static func reopen(_ named: [Int], of id: JobID, in store: JobStore) throws(JobStoreError) -> [Int] {
        let open = try store.segments(of: id).filter { record in
            if case .finished = record { false } else { true }
        }
        let chosen = named.isEmpty ? open.map(\.index) : Array(Set(named)).sorted()
        try store.reopenSegments(chosen, of: id)
        return chosen
    }

    private func start(_ retry: Retry, _ chosen: [Int], _ rerun: RerunRecipe?) {
        let id = retry.job
        guard var job = jobs[id] else { return refuse(retry.request, .unknownJob(id.text), retry.peer) }
        guard job.isOver == retry.wasOver else {
            let failure = Failure(
                .resources, "Job \(id) is \(job.state.rawValue) by now.", advice: "Look at it, and ask again.",
                retry: .retry, fault: .environment, exitCode: .temporary)
            return refuse(retry.request, failure, retry.peer)
        }
        let isOther = retry.settings != nil
        job.order.add(SegmentOverride(segments: chosen, settings: retry.settings, node: retry.node))
        // A job that never came to a plan runs with the new settings as a whole.
        if job.plan == nil, let settings = retry.settings { job.order.settings = settings }
        let what = chosen.isEmpty ? "The stitch" : Wording.segments(chosen)
        log.note("retried", job: id, "\(what) again\(isOther ? ", with other settings" : "").")
        if job.isOver {
            // The file that is there is the job's own; it stays until the new one is proved.
            if job.phase == .over(.finished) { (job.order.overwrite, job.order.hasOutput) = (true, true) }
            job.phase = .queued
            job.isPaused = false
            job.isCancelled = false
            job.failure = nil
            job.report = nil
            jobs[id] = job
        } else {
            jobs[id] = job
            handler.rerun(id, chosen, rerun, node: retry.node)
        }
        persist(id)
        handler.sender.reply(.done(Done(request: retry.request)), to: retry.peer)
        admit()
    }
}

private enum Wording {
    static func segments(_ indices: [Int]) -> String {
        let shown = indices.prefix(10).map(String.init).joined(separator: ", ")
        let rest = indices.count - 10
        return "Segment\(indices.count == 1 ? "" : "s") \(shown)\(rest > 0 ? " and \(rest) more" : "")"
    }
}
