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
        guard let job = jobs[retry.job] else { return refuse(retry.request, .unknownJob(retry.job.text), retry.peer) }
        let desk = DeskReference(self)
        log.flush()
        reopening.insert(job.id)
        handler.storage.perform {
            do throws(Failure) {
                let records = try store.use { (store) throws(JobStoreError) in try store.segments(of: job.id) }
                let chosen = try Reopening(records, retry, job)
                try store.use { (store) throws(JobStoreError) in
                    _ = try store.reopenSegments(chosen.segments + chosen.cleaned, of: job.id)
                }
                link.perform { _ in desk.value?.start(retry, chosen, rerun) }
            } catch {
                sender.reply(.failure(RequestFailed(request: retry.request, failure: error)), to: retry.peer)
                link.perform { _ in desk.value?.reopening.remove(job.id) }
            }
        }
    }

    /// Which segments run again.
    private struct Reopening: Sendable {
        /// Those named, else all that are not finished. What was said about settings and node holds for them.
        let segments: [Int]
        /// Finished ones that are no longer in the spool: they are made once more as they were.
        let cleaned: [Int]

        init(_ records: [SegmentRecord], _ retry: Retry, _ job: ServiceJob) throws(Failure) {
            var (open, cleaned): ([Int], [Int]) = ([], [])
            // An earlier version made what it cleaned pending again.
            let isDone = job.phase == .over(.finished)
            for record in records {
                switch record {
                case .finished(let accepted): if accepted.isCleaned { cleaned.append(accepted.index) }
                case .pending(let index) where isDone: if job.hasSpool { cleaned.append(index) }
                case .pending(let index), .failed(let index, _): open.append(index)
                }
            }
            segments = retry.named.isEmpty ? open : Array(Set(retry.named)).sorted()
            guard retry.named.isEmpty || cleaned.isEmpty else { throw .cleanedSpool(job.id, records.count) }
            guard retry.named.isEmpty || job.hasSpool else { throw .copiedPicture(job.id) }
            if segments.isEmpty, job.plan != nil, retry.settings != nil || retry.node != nil {
                throw .nothingToChange(job.id)
            }
            self.cleaned = cleaned
        }

        /// What whoever asked might not expect.
        func note(of count: Int) -> String? {
            guard !cleaned.isEmpty else { return nil }
            let which =
                cleaned.count == count
                ? "all \(count) segments are" : "\(cleaned.count) of \(count) segments, which were done, are"
            return "Its spool was cleaned: \(which) encoded again, with the settings that they had."
        }

        var what: String {
            if segments.isEmpty { return cleaned.isEmpty ? "The stitch" : "What was cleaned" }
            return SegmentList.sentence(segments)
        }
    }

    private func start(_ retry: Retry, _ chosen: Reopening, _ rerun: RerunRecipe?) {
        reopening.remove(retry.job)
        let id = retry.job
        guard var job = jobs[id] else { return refuse(retry.request, .unknownJob(id.text), retry.peer) }
        guard job.isOver == retry.wasOver else {
            let failure = Failure(
                .resources, "Job \(id) is \(job.state.rawValue) by now.", advice: "Look at it, and ask again.",
                retry: .retry, fault: .environment, exitCode: .temporary)
            return refuse(retry.request, failure, retry.peer)
        }
        let isOther = retry.settings != nil
        job.order.add(SegmentOverride(segments: chosen.segments, settings: retry.settings, node: retry.node))
        // A job that never came to a plan runs with the new settings as a whole.
        if job.plan == nil, let settings = retry.settings { job.order.settings = settings }
        let note = chosen.note(of: job.plan?.segments.count ?? 0)
        let words = "\(chosen.what) again\(isOther ? ", with other settings" : "")."
        log.note("retried", job: id, note.map { "\(words) \($0)" } ?? words)
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
            handler.rerun(id, chosen.segments, rerun, node: retry.node)
        }
        persist(id)
        handler.sender.reply(.done(Done(request: retry.request, note: note)), to: retry.peer)
        admit()
    }
}

extension Failure {
    /// Rerunning one segment needs all the others.
    fileprivate static func cleanedSpool(_ id: JobID, _ count: Int) -> Failure {
        Failure(
            .resources, "The spool of job \(id) was cleaned: single segments of it cannot be rerun.",
            advice:
                "`weft retry \(id)` encodes all \(count) segments again, as they were; after that, rerun single ones.",
            fault: .environment, exitCode: .usage)
    }

    fileprivate static func copiedPicture(_ id: JobID) -> Failure {
        Failure(
            .resources, "The picture of job \(id) is copied as it is: it has no segments to rerun.",
            advice: "`weft retry \(id)` writes the output again.", fault: .settings, exitCode: .usage)
    }

    /// Settings that would have no effect are not taken in silence.
    fileprivate static func nothingToChange(_ id: JobID) -> Failure {
        Failure(
            .resources, "No segment of job \(id) has failed, so there is none for the options given.",
            advice: "Name the segments that they are for with --segment.", fault: .settings, exitCode: .usage)
    }
}
