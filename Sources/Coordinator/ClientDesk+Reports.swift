internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import MediaTime
internal import Messaging
internal import Scheduling
internal import SegmentPlan

/// Answers to questions.
extension ClientDesk {
    func answer(_ query: Query, _ peer: PeerIdentity) {
        let id = query.job.map { JobID($0) }
        if let id, jobs[id] == nil { return refuse(query.request, .unknownJob(id.text), peer) }
        switch query.subject {
        case .jobs: sendJobs(order.compactMap { jobs[$0] }, query, peer)
        case .job: sendJobs(id.flatMap { jobs[$0] }.map { [$0] } ?? [], query, peer)
        case .segments: if let id { sendSegments(id, query, peer) }
        case .workers:
            for page in Rows.pages(request: query.request, rows: workerRows()) {
                handler.sender.reply(.workers(page), to: peer)
            }
        case .events: sendEvents(id, query, peer)
        case .samples: if let id { sendSamples(id, query, peer) }
        }
    }

    // MARK: Jobs

    /// Sizes of the spools come from the store.
    private func sendJobs(_ listed: [ServiceJob], _ query: Query, _ peer: PeerIdentity) {
        log.flush()
        let rows = listed.map { report(of: $0) }
        let (store, sender) = (handler.store, handler.sender)
        handler.storage.perform {
            let uses = (try? store.use { (store) throws(JobStoreError) in try store.spools() }) ?? [:]
            let filled = rows.map { row in
                var row = row
                let use = uses[JobID(row.job)]
                row.spoolBytes = use?.bytes ?? 0
                row.spoolCleaned = use.map { $0.cleaned > 0 } ?? false
                return row
            }
            for page in Rows.pages(request: query.request, rows: filled) { sender.reply(.jobs(page), to: peer) }
        }
    }

    /// The account of a job that is at work, or the one that was made at its end.
    func report(of job: ServiceJob) -> JobReport {
        if let report = job.report, job.isOver { return report }
        var report = JobReport(
            job: job.id.text, state: job.state, output: job.destination, duration: job.plan?.duration ?? .zero)
        report.source = job.order.source
        report.priority = job.priority
        report.failure = job.failure
        report.segments = job.plan?.segments.count ?? 0
        if let began = job.began { report.wallSeconds = Double(Clock.now &- began) / 1e9 }
        guard let runtime = handler.jobs[job.id], let status = handler.scheduler.jobStatus(job.id) else {
            return report
        }
        report.segmentsDone = status.counts.finished
        report.segmentsFailed = status.counts.failed
        report.attempts = runtime.earlierAttempts + status.leases
        report.frames = runtime.acceptedFrames
        report.outputBytes = runtime.acceptedBytes
        report.encodeSeconds = runtime.encodeSeconds
        var places = runtime.workers
        for lease in handler.leases.values where lease.grant.job == job.id {
            places.insert(SlotPlace(lease.grant.worker))
            if !lease.grant.isSpeculative { report.frames += lease.frames }
        }
        report.slots = places.count
        report.sourceAccess = runtime.sourceAccess.isEmpty ? nil : runtime.sourceAccess
        report.warnings = runtime.warnings
        report.checks = runtime.checks
        if report.wallSeconds > 0 {
            report.fps = Double(report.frames) / report.wallSeconds
            report.efficiency = min(1, report.encodeSeconds / (report.wallSeconds * Double(max(1, report.slots))))
        }
        report.etaSeconds = status.predictedEnd.map { max(0, ($0 - handler.now).seconds) }
        return report
    }

    // MARK: Segments

    private func sendSegments(_ id: JobID, _ query: Query, _ peer: PeerIdentity) {
        log.flush()
        let running = runningAttempts(id)
        guard let job = jobs[id], let plan = job.plan else {
            return handler.sender.reply(.segments(Rows(request: query.request, rows: [])), to: peer)
        }
        let (store, sender) = (handler.store, handler.sender)
        handler.storage.perform {
            do throws(Failure) {
                let (records, leases) = try store.use { (store) throws(JobStoreError) in
                    (try store.segments(of: id), try store.leases(of: id))
                }
                var rows = SegmentRows(
                    plan: plan, records: records, leases: leases, running: running, hasSpool: job.hasSpool,
                    isDone: job.phase == .over(.finished)
                ).rows
                if query.failed { rows = rows.filter { $0.state == .failed } }
                for page in Rows.pages(request: query.request, rows: rows) { sender.reply(.segments(page), to: peer) }
            } catch {
                sender.reply(.failure(RequestFailed(request: query.request, failure: error)), to: peer)
            }
        }
    }

    private func runningAttempts(_ id: JobID) -> [Fence: SegmentRows.Running] {
        var running: [Fence: SegmentRows.Running] = [:]
        for (fence, lease) in handler.leases where lease.grant.job == id {
            running[fence] = SegmentRows.Running(frames: lease.frames, seconds: lease.seconds)
        }
        return running
    }

    // MARK: Workers

    func workerRows() -> [WorkerReport] {
        let quarantines = quarantineNotes()
        let leaving = Set(handler.scheduler.nodeStatus().filter(\.isDraining).map(\.node))
        return handler.scheduler.workerStatus().compactMap { status in
            guard !status.worker.node.isEmpty else { return nil }
            var row = WorkerReport(node: status.worker.node, slot: status.worker.slot, state: Self.state(status.state))
            let tally = handler.tallies[SlotPlace(status.worker)] ?? WorkerTally()
            row.isLeaving = leaving.contains(status.worker.node)
            if row.state == .lost, let left = tally.left {
                // Workers that a batch system starts have a new name each time.
                guard Clock.now &- left < Self.leftNanoseconds else { return nil }
                row.state = .left
            }
            row.host = tally.host
            row.sourceAccess = tally.sourceAccess
            row.frames = tally.frames
            row.bytesIn = tally.bytesIn
            row.bytesOut = tally.bytesOut
            row.stageSeconds = tally.stages
            row.failures = status.failures
            row.note = quarantines[status.worker.node] ?? status.lastFailure.map { "Last failure: \($0.message)" }
            row.job = status.job?.text
            row.segment = status.segment
            row.encoder = status.lease == nil ? nil : status.encoder
            if tally.seconds > 0 { row.fps = Double(tally.frames) / tally.seconds }
            var rateOf = status.job
            if let fence = status.lease, let lease = handler.leases[fence] {
                rateOf = lease.grant.job
                row.frames += lease.frames
                row.bytesOut += lease.bytes
                row.bytesIn += lease.progress?.bytesRead ?? 0
                row.stageSeconds = row.stageSeconds + (lease.progress?.stageSeconds ?? StageSeconds())
                if lease.frames > 0, lease.seconds > 0 { row.fps = Double(lease.frames) / lease.seconds }
            }
            if let id = rateOf, let plan = jobs[id]?.plan, plan.expectedFrames > 0 {
                row.realtime = row.fps * plan.duration.seconds / Double(plan.expectedFrames)
            }
            return row
        }
    }

    /// For how long a slot that said goodbye is still listed.
    private static let leftNanoseconds: UInt64 = 600_000_000_000

    /// By node.
    private func quarantineNotes() -> [String: String] {
        var notes: [String: String] = [:]
        for node in handler.scheduler.nodeStatus() {
            guard let quarantine = node.quarantines.first else { continue }
            notes[node.node] = quarantineWords(
                node.node, quarantine.encoder, until: quarantine.until, quarantine.because)
        }
        return notes
    }

    private static func state(_ state: WorkerStatus.State) -> WorkerReport.State {
        switch state {
        case .starting, .idle: .idle
        case .busy: .busy
        case .draining: .draining
        case .quarantined: .quarantined
        case .lost: .lost
        }
    }

    // MARK: Events

    private func sendEvents(_ id: JobID?, _ query: Query, _ peer: PeerIdentity) {
        log.flush()
        if query.follow {
            followers.removeAll { $0.peer == peer && $0.request == query.request }
            followers.append(Follower(peer: peer, request: query.request, job: id))
        }
        let (store, sender, link) = (handler.store, handler.sender, handler.link)
        let desk = DeskReference(self)
        handler.storage.perform {
            let records =
                (try? store.use { (store) throws(JobStoreError) in
                    try store.events(of: id, after: query.after, limit: ProtocolLimits.rows)
                }) ?? []
            for page in Rows.pages(request: query.request, rows: records.map(\.report)) {
                var page = page
                page.more = page.more || query.follow
                sender.reply(.events(page), to: peer)
            }
            if query.follow, let last = records.last?.sequence {
                link.perform { _ in desk.value.map { $0.lastEvent = max($0.lastEvent, last) } }
            }
        }
    }

    /// Sends what was just written to those who follow.
    func publishEvents() {
        guard !followers.isEmpty else { return }
        let (store, link, after) = (handler.store, handler.link, lastEvent)
        let desk = DeskReference(self)
        handler.storage.perform {
            let records = (try? store.use { (store) throws(JobStoreError) in try store.events(after: after) }) ?? []
            guard !records.isEmpty else { return }
            let rows = records.map(\.report)
            link.perform { _ in desk.value?.publish(rows, after: after) }
        }
    }

    private func publish(_ rows: [EventReport], after: Int64) {
        let fresh = rows.filter { $0.id > lastEvent }
        guard let last = fresh.last?.id else { return }
        lastEvent = last
        for follower in followers {
            let wanted = fresh.filter { follower.job == nil || $0.job == follower.job?.text }
            guard !wanted.isEmpty else { continue }
            for page in Rows.pages(request: follower.request, rows: wanted) {
                var page = page
                page.more = true
                handler.sender.reply(.events(page), to: follower.peer)
            }
        }
    }

    func peerLeft(_ peer: PeerIdentity) { followers.removeAll { $0.peer == peer } }
}

/// The rows of a job's segments, from what the store knows and what runs.
struct SegmentRows {
    struct Running: Sendable {
        var frames: Int
        var seconds: Double
    }

    let plan: StoredPlan
    let records: [SegmentRecord]
    let leases: [LeaseRecord]
    let running: [Fence: Running]
    /// The picture was encoded, and not copied as it is.
    let hasSpool: Bool
    let isDone: Bool

    var rows: [SegmentReport] {
        let tries = Dictionary(grouping: leases, by: \.segment)
        return plan.segments.compactMap { segment in
            guard let start = try? MediaTime(ticks: segment.start, in: plan.timeBase),
                let end = try? MediaTime(ticks: segment.end, in: plan.timeBase)
            else { return nil }
            let attempts = tries[segment.index] ?? []
            var row = SegmentReport(index: segment.index, start: start, end: end, state: .pending)
            if records.indices.contains(segment.index) {
                switch records[segment.index] {
                // Nothing of a done job is open: it was copied, or an earlier version cleaned it.
                case .pending where isDone:
                    row.state = .done
                    row.cleaned = hasSpool
                case .pending: break
                case .finished(let accepted):
                    row.state = .done
                    row.frames = accepted.frames
                    row.cleaned = accepted.isCleaned
                case .failed(_, let failure):
                    row.state = .failed
                    row.failure = failure
                }
            }
            if row.state == .pending, attempts.contains(where: { running[$0.lease] != nil }) { row.state = .running }
            row.attempts = attempts.map { attempt($0, isDone: row.state == .done) }
            if row.state == .running { row.frames = attempts.compactMap { running[$0.lease]?.frames }.max() ?? 0 }
            return row
        }
    }

    private func attempt(_ lease: LeaseRecord, isDone: Bool) -> SegmentReport.Attempt {
        let state: SegmentReport.Attempt.State =
            switch lease.state {
            case .running, .storing: running[lease.lease] == nil ? .lost : .running
            case .finished: .accepted
            case .failed: lease.failure?.boundary == .transport ? .lost : .failed
            case .revoked: isDone ? .superseded : .revoked
            }
        let live = running[lease.lease]
        let seconds = live?.seconds ?? max(0, Double((lease.ended ?? lease.granted) - lease.granted) / 1000)
        let frames = live?.frames ?? lease.frames
        return SegmentReport.Attempt(
            worker: "\(lease.worker.node)/\(lease.worker.slot)", node: lease.worker.node, state: state,
            failure: lease.failure, seconds: seconds, fps: seconds > 0 ? Double(frames) / seconds : 0)
    }
}

extension EventRecord {
    var report: EventReport {
        let detail = try? self.detail.decoded(as: EventDetail.self)
        return EventReport(
            id: sequence, time: Double(time) / 1000, kind: kind, job: job?.text, segment: detail?.segment,
            node: detail?.node, slot: detail?.slot, detail: detail?.text ?? "")
    }
}
