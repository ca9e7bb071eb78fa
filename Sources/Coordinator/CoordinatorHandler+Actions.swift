internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Messaging
internal import Scheduling
internal import SegmentPlan
internal import SourceAccess
internal import Stitching

/// What the scheduler wants done: leases to grant and revoke, results to store, and what to tell whom about it.
extension CoordinatorHandler {
    func handle(_ event: Event) {
        for action in scheduler.handle(event, now: now) {
            desk?.noted(action)
            perform(action)
        }
    }

    func notice(_ job: JobID? = nil, _ text: String) {
        for (id, runtime) in jobs where job == nil || job == id { runtime.telemetry.notice(text) }
    }

    func perform(_ action: Action) {
        switch action {
        case .grant(let grant): send(grant)
        case .revoke(let fence, let worker, let reason):
            let job = leases[fence]?.grant.job
            drop(fence)
            if let identity = peers[worker], let job {
                revoke(LeaseName(job: job.text, fence: fence.number), reason.rawValue, identity)
            }
        case .store(let fence, let job, let segment): storeResult(fence, job, segment)
        case .discard(let fence, _): drop(fence)
        case .nondeterminism(let job, let segment, _, _):
            notice(
                job,
                "Segment \(segment): two slots gave different bytes; the first result is kept. The encoder is not deterministic."
            )
        case .segmentFinished(let job, let segment, let fence): finished(job, segment, fence)
        case .segmentFailed(let job, let segment, let failure):
            notice(job, "Segment \(segment) failed for good: \(failure.message)")
            jobs[job]?.failed.append((segment, failure))
        case .jobChanged(let job, let state): changed(job, state)
        case .quarantine(let node, let encoder, _, let failure):
            notice(nil, "\(node) gets no more \(encoder) work for a while: \(failure.message)")
        case .record(let occurrence): record(occurrence)
        }
    }

    func send(_ grant: Grant) {
        guard let job = jobs[grant.job], let identity = peers[grant.worker],
            job.segments.indices.contains(grant.segment)
        else { return }
        let lease = OpenLease(grant, spool: job.spool)
        leases[grant.lease] = lease
        // The slot does both in turn, so the answer is here before the first result can be.
        if options.provesEncoders, proofs.begin(grant.worker, grant.job) {
            send(.prove(Prove(job: job.id.text, recipe: job.recipe)), to: identity)
        }
        let access = access(of: grant, job, identity)
        note(access, of: grant)
        send(
            .lease(
                Lease(
                    lease: LeaseName(job: job.id.text, fence: grant.lease.number),
                    recipe: job.recipe(ofSegment: grant.segment), source: job.source, access: access,
                    segment: job.segments[grant.segment], credit: OpenLease.credit, stallSeconds: job.stallSeconds)),
            to: identity)
    }

    func drop(_ fence: Fence) {
        guard let lease = leases.removeValue(forKey: fence) else { return }
        streams.cancel(fence)
        storage.perform { lease.receiver.cancel() }
    }

    private func storeResult(_ fence: Fence, _ job: JobID, _ segment: Int) {
        guard let lease = leases[fence], let result = lease.result, let payload = pendingPayload[fence],
            payload.count >= 2
        else { return }
        let archive = payload[0].bytes
        let table = payload.dropFirst().flatMap(\.bytes)
        let link = link
        let frames = result.frames
        storing += 1
        if let failure = disagreement(archive, lease) {
            return link.perform { $0.settle(fence, .failure(failure)) }
        }
        let times = jobs[job].map { $0.segments[segment] }.map { $0.start..<$0.end } ?? 0..<0
        keeper.keep(job, lease.receiver, in: lease.spool) { (receiver) throws(Failure) in
            let file = try receiver.finish(result, archive: archive, table: table, times: times)
            return AcceptedSegment(
                index: segment, lease: fence, worker: lease.grant.worker,
                spoolFile: Spool.fileName(ofSegment: segment), bytes: file.bytes, hash: file.hash, frames: frames,
                encodeSeconds: result.seconds)
        } done: { outcome in
            link.perform { $0.settle(fence, outcome) }
        }
    }

    /// Why the result cannot be of the same track as those that are known to be good.
    private func disagreement(_ archive: [UInt8], _ lease: OpenLease) -> Failure? {
        let (id, segment) = (lease.grant.job, lease.grant.segment)
        // Segments that were given settings of their own, and encoders of one machine, answer for themselves.
        guard options.provesEncoders, jobs[id]?.recipes[segment] == nil,
            let sets = ParameterSets(archive: archive, from: lease.grant.worker, segment: segment)
        else { return nil }
        parameterSets[lease.grant.lease] = sets
        return disagreement(of: sets, id)
    }

    private func settle(_ fence: Fence, _ outcome: Result<String, Failure>) {
        storing -= 1
        if case .failure = outcome { parameterSets[fence] = nil }
        switch outcome {
        case .success(let hash):
            if let trouble = storageTrouble { desk?.storageMended(after: Double(clock &- trouble.since) / 1e9) }
            storageTrouble = nil
            leases[fence]?.fileHash = hash
            handle(.resultStored(fence))
        case .failure(let failure) where failure.fault == .worker: handle(.resultRejected(fence, failure))
        case .failure(let failure): handle(.storeFailed(fence, failure))
        }
        while storing < Self.mostStoring, !waiting.isEmpty { handle(.workerReady(waiting.removeFirst())) }
    }

    private func finished(_ id: JobID, _ segment: Int, _ fence: Fence) {
        guard let lease = leases.removeValue(forKey: fence), let result = lease.result, let hash = lease.fileHash
        else { return }
        jobs[id]?.accept(segment, frames: result.frames, bytes: result.bytes)
        jobs[id]?.encodeSeconds += result.seconds
        jobs[id].map { jobs[id]?.stages = $0.stages + result.stageSeconds }
        jobs[id]?.warnings += result.warnings
        jobs[id]?.workers.insert(SlotPlace(lease.grant.worker))
        tallies[SlotPlace(lease.grant.worker), default: WorkerTally()].add(result)
        examine(
            id,
            ReturnedSegment(
                index: segment, lease: fence, worker: lease.grant.worker, fileHash: hash,
                parameterSets: parameterSets[fence]))
        parameterSets[fence] = nil
        if let identity = peers[lease.grant.worker] {
            send(.accepted(Accepted(lease: LeaseName(job: id.text, fence: fence.number))), to: identity)
        }
    }

    private func changed(_ id: JobID, _ state: JobState) {
        if state.isOver { desk?.settled(id, state) }
        guard state == .failed || state == .cancelled else { return }
        jobs[id]?.board.fail(
            jobs[id]?.failure ?? scheduler.jobStatus(id)?.lastFailure
                ?? Failure(.cancelled, "The job was cancelled.", exitCode: .interrupted))
    }

    private func record(_ occurrence: Occurrence) {
        switch occurrence {
        case .leaseEnded(let fence, let worker, let job, let segment, let state, let failure):
            // A finished lease is settled by `segmentFinished`, which needs its account.
            if state != .finished {
                drop(fence)
                // Whatever ended it, a slot that still holds it need not wait for word about its result.
                if let identity = peers[worker] {
                    revoke(LeaseName(job: job.text, fence: fence.number), "ended", identity)
                }
            }
            if state == .failed, let failure, failure.boundary != .storage {
                let place = "\(worker.node)/\(worker.slot)"
                // Where this was the last attempt, `segmentFailed` says so next.
                let isOver = scheduler.segmentStatus(job, segment)?.state == .failed
                notice(
                    job, "Segment \(segment) failed on \(place)\(isOver ? "" : " and runs again"): \(failure.message)")
                // A service tells it from its log (`JobAccount`).
                if desk == nil {
                    jobs[job]?.warnings.append("Segment \(segment) failed once on \(place): \(failure.message)")
                }
            }
        case .jobHeld(let job, _, let failure):
            guard storageTrouble == nil else { break }
            storageTrouble = (clock, failure)
            let patience = options.storagePatience.map { " Trying again for \(Int($0)) s." } ?? " Trying again."
            notice(job, "\(failure.message)\(patience) \(failure.advice)")
        case .nodeBarred(let job, let node, let failure):
            notice(job, "\(node) cannot work on this job: \(failure.message)")
        case .reattached(let fence, let worker, let job, let segment):
            guard let runtime = jobs[job] else { return }
            let grant = Grant(lease: fence, worker: worker, job: job, segment: segment, isSpeculative: false)
            leases[fence] = OpenLease(grant, spool: runtime.spool)
        case .workerJoined, .workerLost, .nodeReleased, .nodeDrained, .ignored: break
        }
    }
}
