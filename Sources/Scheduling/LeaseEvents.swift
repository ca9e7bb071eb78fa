internal import ClusterProtocol

extension Scheduler {
    mutating func progress(_ id: LeaseID, _ worker: WorkerID, _ frames: Int, _ work: Int64) {
        guard let lease = leases[id], lease.worker == worker, lease.state == .running,
            frames > lease.frames || work > lease.work
        else { return }
        leases[id]?.work = max(work, lease.work)
        leases[id]?.lastProgress = now
        guard frames > lease.frames else { return }
        leases[id]?.frames = frames
        predictFromProgress(id)
    }

    mutating func receive(_ id: LeaseID, _ worker: WorkerID, _ hash: String, _ frames: Int) {
        guard let lease = leases[id] else { return discard(id, .stale) }
        guard lease.worker == worker else { return discard(id, .notTheHolder) }
        switch lease.state {
        case .storing: discard(id, .duplicate)
        case .superseded:
            leases[id] = nil
            slots[lease.slot].lease = nil
            compare(lease, Outcome(lease: id, worker: worker, hash: hash))
            discard(id, .superseded)
        case .running: take(lease, hash, frames)
        }
    }

    private mutating func discard(_ id: LeaseID, _ reason: DiscardReason) { actions.append(.discard(id, reason)) }

    private mutating func take(_ lease: Lease, _ hash: String, _ frames: Int) {
        let (j, segment) = (lease.job, lease.segment)
        leases[lease.id]?.frames = max(frames, lease.frames)
        learnSpeed(lease)
        if let first = jobs[j].segments[segment].leases.first(where: { leases[$0]?.state == .storing }) {
            // Both are here; the first one is kept unless it proves bad, which costs the segment another try.
            endLease(lease.id, as: .revoked, nil)
            let kept = Outcome(
                lease: first, worker: leases[first]?.worker ?? lease.worker, hash: leases[first]?.hash ?? "")
            compare(j, segment, kept, Outcome(lease: lease.id, worker: lease.worker, hash: hash))
            discard(lease.id, .superseded)
            return
        }
        stopRunning(lease.id)
        leases[lease.id]?.state = .storing
        leases[lease.id]?.hash = hash
        slots[lease.slot].lease = nil
        slots[lease.slot].frames += max(frames, 0)
        editAttempt(j, segment, lease.id) { attempt in
            attempt.state = .storing
            attempt.frames = max(frames, attempt.frames)
        }
        setState(j, segment, .storing)
        updateRace(j, segment)
        refreshQueues(j)
        actions.append(.store(lease.id, job: jobs[j].spec.id, segment: segment))
    }

    private mutating func compare(_ lease: Lease, _ other: Outcome) {
        guard !jobs[lease.job].isRemoved, let kept = jobs[lease.job].segments[lease.segment].outcome else { return }
        compare(lease.job, lease.segment, kept, other)
    }

    private mutating func compare(_ j: Int, _ segment: Int, _ kept: Outcome, _ other: Outcome) {
        guard kept.hash != other.hash else { return }
        if !jobs[j].nondeterministic.contains(segment) { jobs[j].nondeterministic.append(segment) }
        actions.append(.nondeterminism(jobs[j].spec.id, segment: segment, kept: kept, other: other))
    }

    mutating func stored(_ id: LeaseID) {
        guard let lease = leases[id], lease.state == .storing else { return ignore("\(id) was not being stored") }
        let (j, segment) = (lease.job, lease.segment)
        endLease(id, as: .finished, nil)
        slots[lease.slot].finished += 1
        jobs[j].holds = 0
        jobs[j].segments[segment].outcome = Outcome(lease: id, worker: lease.worker, hash: lease.hash)
        jobs[j].segments[segment].failure = nil
        setState(j, segment, .finished)
        for other in jobs[j].segments[segment].leases { revoke(other, because: .superseded) }
        forgetAway(j, segment)
        praise(lease)
        actions.append(.segmentFinished(jobs[j].spec.id, segment: segment, id))
        refreshQueues(j)
        settle(j)
    }

    mutating func rejected(_ id: LeaseID, _ failure: Failure) {
        guard let lease = leases[id], lease.state == .storing else { return ignore("\(id) was not being stored") }
        endLease(id, as: .failed, failure)
        slots[lease.slot].failures += 1
        slots[lease.slot].lastFailure = failure
        charge(lease, failure, .answer)
    }

    /// The segment goes back in the line, nobody is blamed, and the job waits before it makes more results that cannot be
    /// kept.
    mutating func storeFailed(_ id: LeaseID, _ failure: Failure) {
        guard let lease = leases[id], lease.state == .storing else { return ignore("\(id) was not being stored") }
        let j = lease.job
        endLease(id, as: .failed, failure)
        jobs[j].lastFailure = failure
        requeueIfIdle(j, lease.segment)
        let factor = Double(1 << min(jobs[j].holds, 20))
        let hold = min(Interval(seconds: configuration.firstHold.seconds * factor), configuration.longestHold)
        let until = now + hold
        if until > jobs[j].heldUntil ?? .zero {
            // Several results in flight meet the same full disk: that is one hold.
            if jobs[j].heldUntil == nil { jobs[j].holds += 1 }
            jobs[j].heldUntil = until
            timers.insert(Timer(at: until, kind: .holdEnd, subject: UInt64(j)))
            actions.append(.record(.jobHeld(jobs[j].spec.id, until: until, failure)))
        }
        refreshQueues(j)
    }

    mutating func failed(_ id: LeaseID, _ worker: WorkerID, _ failure: Failure) {
        guard let lease = leases[id], lease.worker == worker else { return }
        switch lease.state {
        case .storing: return
        case .superseded:
            leases[id] = nil
            slots[lease.slot].lease = nil
        case .running:
            endLease(id, as: .failed, failure)
            slots[lease.slot].failures += 1
            slots[lease.slot].lastFailure = failure
            charge(lease, failure, .answer)
        }
    }
}

// MARK: - The life of a lease

extension Scheduler {
    mutating func beginLease(
        _ id: LeaseID, _ j: Int, _ segment: Int, _ s: Int, isSpeculative: Bool, granted: Instant
    ) {
        let n = slots[s].node
        let speed = speed(of: n, class: jobs[j].speedClass)
        var lease = Lease(
            id: id, job: j, segment: segment, slot: s, node: n, worker: slots[s].worker, isSpeculative: isSpeculative,
            granted: granted, speed: speed, lastProgress: now)
        if let speed, speed > 0 {
            lease.predictedEnd = max(now, granted + Interval(seconds: jobs[j].segments[segment].weight / speed))
        }
        slots[s].lease = id
        slots[s].lastJob = j
        removePending(j, segment)
        setState(j, segment, jobs[j].segments[segment].state == .storing ? .storing : .running)
        jobs[j].segments[segment].leases.append(id)
        addAttempt(j, segment, lease)
        leases[id] = lease
        jobs[j].active += 1
        if let place = nodes[n].place(of: jobs[j].encoder) { nodes[n].encoders[place].active += 1 }
        addBusy(lease, sign: 1)
        armTimers(id)
        updateRace(j, segment)
        if jobs[j].state == .waiting { change(j, to: .running) }
        refreshQueues(j)
        refreshIdle(n)
    }

    /// The lease no longer takes a slot's time.
    mutating func stopRunning(_ id: LeaseID) {
        guard let lease = leases[id], lease.state == .running else { return }
        let j = lease.job
        jobs[j].active -= 1
        if let place = nodes[lease.node].place(of: jobs[j].encoder) { nodes[lease.node].encoders[place].active -= 1 }
        addBusy(lease, sign: -1)
        jobs[j].races.remove(FinishKey(at: raceKey(lease), lease: id))
        if let at = lease.stallTimer { timers.remove(Timer(at: at, kind: .stall, subject: id.number)) }
        if let at = lease.overdueTimer { timers.remove(Timer(at: at, kind: .overdue, subject: id.number)) }
        leases[id]?.stallTimer = nil
        leases[id]?.overdueTimer = nil
        refreshIdle(lease.node)
    }

    /// Ends a lease. Its segment keeps its state: the caller knows what becomes of it.
    mutating func endLease(_ id: LeaseID, as state: AttemptState, _ failure: Failure?) {
        guard let lease = leases[id], lease.state != .superseded else { return }
        let (j, segment) = (lease.job, lease.segment)
        stopRunning(id)
        leases[id] = nil
        if slots[lease.slot].lease == id { slots[lease.slot].lease = nil }
        jobs[j].segments[segment].leases.removeAll { $0 == id }
        let now = now
        editAttempt(j, segment, id) { attempt in
            attempt.state = state
            attempt.failure = failure
            attempt.ended = now
            attempt.frames = max(attempt.frames, lease.frames)
        }
        actions.append(
            .record(.leaseEnded(id, lease.worker, jobs[j].spec.id, segment: segment, state, failure)))
        updateRace(j, segment)
        refreshQueues(j)
    }

    /// Ends a running lease and tells its slot. The slot counts as busy until it says that it is ready; a result that
    /// comes all the same is compared.
    mutating func revoke(_ id: LeaseID, because reason: RevokeReason, _ failure: Failure? = nil) {
        guard let lease = leases[id], lease.state == .running else { return }
        endLease(id, as: failure == nil ? .revoked : .failed, failure)
        var left = lease
        left.state = .superseded
        leases[id] = left
        slots[lease.slot].lease = id
        actions.append(.revoke(id, lease.worker, reason))
    }

    /// The slot is gone, or has lost its lease. The lease may come back with it.
    mutating func loseLease(_ s: Int, _ failure: Failure) {
        guard let id = slots[s].lease, let lease = leases[id] else { return }
        slots[s].lease = nil
        guard lease.state == .running else {
            leases[id] = nil
            return
        }
        let (j, segment) = (lease.job, lease.segment)
        let isDisconnect = failure.boundary == .transport || failure.boundary == .cancelled
        endLease(id, as: .failed, failure)
        slots[s].failures += 1
        slots[s].lastFailure = failure
        if isDisconnect {
            awayLeases[id] = AwayLease(
                job: j, segment: segment, worker: lease.worker, isSpeculative: lease.isSpeculative,
                granted: lease.granted, wasCharged: true)
            jobs[j].segments[segment].awayLeases.append(id)
        }
        charge(lease, failure, isDisconnect ? .disconnect : .death)
    }

    private mutating func addAttempt(_ j: Int, _ segment: Int, _ lease: Lease) {
        if jobs[j].segments[segment].attempts.contains(where: { $0.lease == lease.id }) {
            return editAttempt(j, segment, lease.id) { attempt in
                attempt.state = .running
                attempt.failure = nil
                attempt.ended = nil
            }
        }
        if jobs[j].segments[segment].attempts.count >= max(configuration.attemptsKept, 1) {
            jobs[j].segments[segment].attempts.removeFirst()
        }
        jobs[j].segments[segment].attempts.append(
            Attempt(
                lease: lease.id, worker: lease.worker, isSpeculative: lease.isSpeculative, started: lease.granted))
    }

    private mutating func editAttempt(
        _ j: Int, _ segment: Int, _ id: LeaseID, _ edit: (inout Attempt) -> Void
    ) {
        guard let place = jobs[j].segments[segment].attempts.lastIndex(where: { $0.lease == id }) else { return }
        edit(&jobs[j].segments[segment].attempts[place])
    }

    private mutating func armTimers(_ id: LeaseID) {
        guard let lease = leases[id] else { return }
        let limit = jobs[lease.job].spec.policy.stallLimit
        let stall = now + limit
        timers.insert(Timer(at: stall, kind: .stall, subject: id.number))
        leases[id]?.stallTimer = stall
        if let end = lease.predictedEnd { armOverdue(id, at: end) }
    }
}
