internal import ClusterProtocol

extension Scheduler {
    mutating func tick() {
        while let timer = timers.first, timer.at <= now {
            timers.remove(timer)
            switch timer.kind {
            case .stall: stallDue(LeaseID(timer.subject))
            case .overdue: overdue(LeaseID(timer.subject))
            case .quarantineEnd: quarantineEnded(Int(timer.subject), timer.detail)
            case .reattachEnd: reattachEnded(Int(timer.subject))
            case .holdEnd: holdEnded(Int(timer.subject))
            case .declineEnd: declineEnded(Int(timer.subject))
            }
        }
    }

    private mutating func stallDue(_ id: LeaseID) {
        guard let lease = leases[id], lease.state == .running else { return }
        leases[id]?.stallTimer = nil
        let limit = jobs[lease.job].spec.policy.stallLimit
        let due = lease.lastProgress + limit
        guard due <= now else {
            timers.insert(Timer(at: due, kind: .stall, subject: id.number))
            leases[id]?.stallTimer = due
            return
        }
        let failure = Failure(
            .hardware, "No new frame for \(Int(limit.seconds.rounded())) s after \(lease.frames) frames.",
            advice: "The segment was given to another slot; look at the driver and the load of \(lease.worker.node).",
            retry: .elsewhere, fault: .worker)
        revoke(id, because: .stalled, failure)
        slots[lease.slot].failures += 1
        slots[lease.slot].lastFailure = failure
        charge(lease, failure, .death)
    }

    private mutating func holdEnded(_ j: Int) {
        guard let until = jobs[j].heldUntil, until <= now else { return }
        jobs[j].heldUntil = nil
        refreshQueues(j)
        offerIdleSlots(jobs[j].encoder)
    }
}
