internal import ClusterProtocol
internal import Messaging
internal import Scheduling
internal import SegmentPlan

/// Sources for slots that cannot open them: who is streamed to, and what becomes of it.
extension CoordinatorHandler {
    /// A node that could not open the job's source is not made to try again with each lease.
    func access(of grant: Grant, _ job: JobRuntime, _ identity: PeerIdentity) -> ClusterProtocol.Lease.Access {
        let node = grant.worker.node
        let isStreamed = job.sourceAccess[node] == .streamed && job.unreached[node] == nil
        return isStreamed && peers[identity]?.streams == true ? .streamed : .direct
    }

    /// The node's slot works from what the coordinator reads, because it could not open the source.
    private func note(_ failure: Failure, of grant: Grant) {
        let node = grant.worker.node
        defer { note(.streamed, of: grant) }
        guard let job = jobs[grant.job] else { return }
        // A server that is away just now may be there for the next lease; if it is not, it is away for this node.
        if failure.exitCode == .temporary {
            if let newest = job.unreached[node], grant.lease <= newest { return }
            if job.unreached[node] == nil, job.sourceAccess[node] != .streamed {
                jobs[grant.job]?.unreached[node] = leases.keys.max() ?? grant.lease
                return
            }
        }
        jobs[grant.job]?.unreached[node] = nil
        guard job.unreached[node] != nil || job.sourceAccess[node] != .streamed else { return }
        notice(grant.job, "\(node) is sent the source by the coordinator: \(failure.message)")
    }

    /// A lease is done whose slot read the source itself: what kept the node from it is over.
    func noteReached(by lease: OpenLease) {
        let (job, node) = (lease.grant.job, lease.grant.worker.node)
        guard lease.stream == nil, let newest = jobs[job]?.unreached[node], lease.grant.lease > newest else { return }
        jobs[job]?.unreached[node] = nil
        note(.direct, of: lease.grant)
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
        if let failure = credit.failure { note(failure, of: lease.grant) } else { note(.streamed, of: lease.grant) }
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
