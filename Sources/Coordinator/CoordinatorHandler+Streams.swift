internal import ClusterProtocol
internal import Messaging
internal import Scheduling
internal import SegmentPlan

/// Sources for slots that cannot open them: who is streamed to, and what becomes of it.
extension CoordinatorHandler {
    /// A node that could not open the job's source is not made to try again with each lease.
    func access(of grant: Grant, _ job: JobRuntime, _ identity: PeerIdentity) -> ClusterProtocol.Lease.Access {
        let isStreamed = job.sourceAccess[grant.worker.node] == .streamed && peers[identity]?.streams == true
        return isStreamed ? .streamed : .direct
    }

    func note(_ access: ClusterProtocol.Lease.Access, of grant: Grant) {
        jobs[grant.job]?.sourceAccess[grant.worker.node] = access
        tallies[SlotPlace(grant.worker), default: WorkerTally()].sourceAccess = access
    }

    func receive(_ credit: SourceCredit, from worker: WorkerID, _ identity: PeerIdentity) {
        let fence = Fence(credit.lease.fence)
        guard let lease = leases[fence], lease.grant.worker == worker, let job = jobs[lease.grant.job],
            job.segments.indices.contains(lease.grant.segment)
        else { return revoke(credit.lease, "stale", identity) }
        if let running = leases[fence]?.stream {
            if credit.stream == running { return streams.grant(credit.bytes, to: fence) }
            // What was on the way when the slot asked anew.
            guard credit.stream > running else { return }
        }
        leases[fence]?.stream = credit.stream
        // A server that is away just now may be there for the next lease.
        let isPassing = credit.failure?.exitCode == .temporary
        if let failure = credit.failure, !isPassing, job.sourceAccess[worker.node] != .streamed {
            notice(job.id, "\(worker.node) is sent the source by the coordinator: \(failure.message)")
        }
        if !isPassing { note(.streamed, of: lease.grant) }
        var segment = job.segments[lease.grant.segment]
        if let entry = credit.entry { segment.entry = entry }
        streams.begin(
            SourceStream.Order(
                fence: fence, lease: credit.lease, peer: identity, source: job.source, segment: segment,
                goesOn: job.recipe(ofSegment: lease.grant.segment).filterMargin > 0, number: credit.stream,
                from: credit.from), credit: credit.bytes, isSuspicious: credit.failure != nil)
    }

    /// A stream broke off.
    func settle(_ fence: Fence, _ trouble: SourceStreams.Trouble) {
        guard let lease = leases[fence] else { return }
        switch trouble {
        case .changed(let failure): fail(lease.grant.job, failure)
        case .failed(let failure): handle(.leaseFailed(fence, lease.grant.worker, failure))
        }
    }
}
