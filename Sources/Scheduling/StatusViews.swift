internal import ClusterProtocol

/// What a report or a dashboard shows. Each view costs as much as what it lists.
extension Scheduler {
    /// In the order of submission.
    package func jobList() -> [JobID] { jobs.filter { !$0.isRemoved }.map(\.spec.id) }

    /// Counts only, in constant time.
    package func jobStatus(_ id: JobID) -> JobStatus? {
        guard let j = jobPlaces[id] else { return nil }
        let job = jobs[j]
        return JobStatus(
            id: id, priority: job.spec.priority, state: job.state, encoder: job.spec.encoder, counts: job.counts,
            leases: job.leases, speculativeLeases: job.speculativeLeases, nondeterministic: job.nondeterministic,
            predictedEnd: predictedJobEnd(job), lastFailure: job.lastFailure)
    }

    private func predictedJobEnd(_ job: Job) -> Instant? {
        guard job.busySpeed > 0, !job.state.isOver else { return nil }
        let fluid = Instant(seconds: (job.pendingWeight + job.busySpeedEnds) / job.busySpeed)
        let lastKnown = job.races.last.flatMap { $0.at == .never ? nil : $0.at } ?? fluid
        return max(now, max(fluid, lastKnown))
    }

    package func segmentStatus(_ id: JobID) -> [SegmentStatus] {
        guard let j = jobPlaces[id] else { return [] }
        return jobs[j].segments.indices.map { status(j, $0) }
    }

    package func segmentStatus(_ id: JobID, _ segment: Int) -> SegmentStatus? {
        guard let j = jobPlaces[id], jobs[j].segments.indices.contains(segment) else { return nil }
        return status(j, segment)
    }

    private func status(_ j: Int, _ segment: Int) -> SegmentStatus {
        let run = jobs[j].segments[segment]
        let attempts = run.attempts.map { attempt in
            var attempt = attempt
            if let lease = leases[attempt.lease], lease.state != .superseded {
                attempt.frames = max(attempt.frames, lease.frames)
            }
            return attempt
        }
        return SegmentStatus(
            index: segment, state: run.state, frames: attempts.map(\.frames).max() ?? 0, attempts: attempts,
            failure: run.failure)
    }

    /// Every slot that was ever seen, by node and slot.
    package func workerStatus() -> [WorkerStatus] {
        slots.map(status).sorted { $0.worker < $1.worker }
    }

    private func status(_ slot: Slot) -> WorkerStatus {
        let lease = slot.lease.flatMap { leases[$0] }.flatMap { $0.state == .running ? $0 : nil }
        let job = (lease?.job ?? slot.lastJob).map { jobs[$0] }
        return WorkerStatus(
            worker: slot.worker, state: state(slot), lease: lease?.id, job: lease.map { jobs[$0.job].spec.id },
            segment: lease?.segment, encoder: job?.spec.encoder, finished: slot.finished, failures: slot.failures,
            frames: slot.frames + (lease?.frames ?? 0),
            speed: job.flatMap { nodes[slot.node].speeds[$0.speedClass] }, lastFailure: slot.lastFailure)
    }

    private func state(_ slot: Slot) -> WorkerStatus.State {
        let node = nodes[slot.node]
        if !slot.isConnected { return .lost }
        if slot.lease != nil { return .busy }
        if node.isDraining { return .draining }
        if !slot.isReady { return .starting }
        return node.encoders.contains { $0.until != nil } ? .quarantined : .idle
    }

    /// By name.
    package func nodeStatus() -> [NodeStatus] {
        nodes.map { node in
            let quarantines = node.encoders.compactMap { encoder -> NodeStatus.Quarantine? in
                guard let until = encoder.until, let cause = encoder.cause else { return nil }
                return NodeStatus.Quarantine(
                    encoder: pools[encoder.encoder].encoder, until: until, because: cause)
            }
            return NodeStatus(
                node: node.name, slots: node.connected, isDraining: node.isDraining, quarantines: quarantines)
        }
        .sorted { $0.node < $1.node }
    }
}
