internal import ClusterProtocol

extension Scheduler {
    mutating func submit(_ spec: JobSpec, _ progress: JobProgress?) {
        guard jobPlaces[spec.id] == nil else { return ignore("job \(spec.id) was submitted twice") }
        let encoder = encoderPlace(spec.encoder)
        let place = speeds.place(of: SpeedTable.Class(encoder: encoder, size: spec.size))
        var job = Job(
            spec: spec, encoder: encoder, speedClass: place, state: .waiting,
            segments: spec.segments.map {
                let checked = SegmentSpec(weight: $0.weight, frames: $0.frames)
                return SegmentRun(weight: checked.weight, frames: checked.frames)
            })
        job.counts.pending = spec.segments.count
        let j = jobs.count
        jobs.append(job)
        jobPlaces[spec.id] = j
        for segment in spec.segments.indices { addPending(j, segment) }
        if let progress { restore(j, progress) }
        refreshQueues(j)
        settle(j)
        giveUpIfHopeless(j)
        offerIdleSlots(encoder)
    }

    private mutating func restore(_ j: Int, _ progress: JobProgress) {
        jobs[j].state = progress.state
        for segment in progress.finished.keys.sorted() where jobs[j].segments.indices.contains(segment) {
            removePending(j, segment)
            setState(j, segment, .finished)
            let hash = progress.finished[segment] ?? ""
            let worker = WorkerID(node: "", slot: 0)
            jobs[j].segments[segment].outcome = Outcome(lease: LeaseID(0), worker: worker, hash: hash)
        }
        for segment in progress.failed.keys.sorted() where isPending(j, segment) {
            removePending(j, segment)
            setState(j, segment, .failed)
            jobs[j].segments[segment].failure = progress.failed[segment]
            jobs[j].lastFailure = progress.failed[segment]
        }
        guard !progress.state.isOver else { return }
        for open in progress.openLeases where isPending(j, open.segment) || awaits(j, open.segment) {
            // A slot that is here already came without the lease.
            let name = SlotName(node: nodePlace(open.worker.node), slot: open.worker.slot)
            if let s = slotPlaces[name], slots[s].isConnected { continue }
            awayLeases[open.lease] = AwayLease(
                job: j, segment: open.segment, worker: open.worker, isSpeculative: false, granted: now,
                wasCharged: false)
            jobs[j].segments[open.segment].awayLeases.append(open.lease)
            removePending(j, open.segment)
            jobs[j].segments[open.segment].awaitsReattach = true
            awaited[name, default: []].append(open.lease)
        }
        if !progress.openLeases.isEmpty {
            timers.insert(Timer(at: now + configuration.reattachGrace, kind: .reattachEnd, subject: UInt64(j)))
        }
    }

    private func awaits(_ j: Int, _ segment: Int) -> Bool {
        jobs[j].segments.indices.contains(segment) && jobs[j].segments[segment].awaitsReattach
    }

    private func isPending(_ j: Int, _ segment: Int) -> Bool { jobs[j].pending.contains(segment) }

    /// The slot is back without these leases: their segments need not wait longer.
    mutating func releaseAwaited(of name: SlotName, except held: LeaseID?) {
        for id in awaited.removeValue(forKey: name) ?? [] where id != held {
            guard let away = awayLeases.removeValue(forKey: id), !jobs[away.job].isRemoved else { continue }
            let (j, segment) = (away.job, away.segment)
            jobs[j].segments[segment].awayLeases.removeAll { $0 == id }
            guard jobs[j].segments[segment].awayLeases.isEmpty, awaits(j, segment) else { continue }
            jobs[j].segments[segment].awaitsReattach = false
            if jobs[j].segments[segment].state == .pending { addPending(j, segment) }
            refreshQueues(j)
            offerSegment(j, segment)
        }
    }

    mutating func reattachEnded(_ j: Int) {
        guard !jobs[j].isRemoved else { return }
        for segment in jobs[j].segments.indices where jobs[j].segments[segment].awaitsReattach {
            jobs[j].segments[segment].awaitsReattach = false
            if jobs[j].segments[segment].state == .pending { addPending(j, segment) }
        }
        refreshQueues(j)
        offerIdleSlots(jobs[j].encoder)
    }

    mutating func pause(_ id: JobID) {
        guard let j = jobPlaces[id], !jobs[j].state.isOver else { return ignore("job \(id) cannot be paused") }
        change(j, to: .paused)
    }

    mutating func resume(_ id: JobID) {
        guard let j = jobPlaces[id], jobs[j].state == .paused else { return ignore("job \(id) is not paused") }
        change(j, to: jobs[j].leases > 0 ? .running : .waiting)
        settle(j)
        giveUpIfHopeless(j)
        offerIdleSlots(jobs[j].encoder)
    }

    mutating func cancel(_ id: JobID) {
        guard let j = jobPlaces[id], !jobs[j].state.isOver else { return ignore("job \(id) cannot be cancelled") }
        change(j, to: .cancelled)
        revokeAll(j, because: .jobCancelled) { _ in true }
    }

    mutating func bar(_ id: JobID, _ node: String, _ failure: Failure) {
        guard let j = jobPlaces[id] else { return ignore("there is no job \(id)") }
        let n = nodePlace(node)
        guard jobs[j].barredNodes.insert(n).inserted else { return }
        actions.append(.record(.nodeBarred(id, node: node, failure)))
        jobs[j].lastFailure = failure
        revokeAll(j, because: .nodeBarred) { $0.node == n }
        giveUpIfHopeless(j)
        offerIdleSlots(jobs[j].encoder)
    }

    mutating func removeJob(_ id: JobID) {
        guard let j = jobPlaces[id], jobs[j].state.isOver else { return ignore("job \(id) cannot be removed") }
        for segment in jobs[j].segments.indices {
            for lease in jobs[j].segments[segment].leases { endLease(lease, as: .revoked, nil) }
            forgetAway(j, segment)
        }
        jobPlaces[id] = nil
        jobs[j].isRemoved = true
        refreshQueues(j)
        jobs[j].segments = []
        jobs[j].pending = OrderedSet()
        jobs[j].tail = nil
    }

    /// Ends the job's running leases that `matches` picks; results that are being stored still count.
    private mutating func revokeAll(_ j: Int, because reason: RevokeReason, _ matches: (Lease) -> Bool) {
        for segment in jobs[j].segments.indices {
            for id in jobs[j].segments[segment].leases {
                guard let lease = leases[id], lease.state == .running, matches(lease) else { continue }
                revoke(id, because: reason)
            }
            if reason == .jobCancelled { forgetAway(j, segment) }
            requeueIfIdle(j, segment)
        }
        refreshQueues(j)
    }

    mutating func change(_ j: Int, to state: JobState) {
        guard jobs[j].state != state else { return }
        jobs[j].state = state
        actions.append(.jobChanged(jobs[j].spec.id, state))
        refreshQueues(j)
    }

    /// Ends the job once no segment is left to do.
    mutating func settle(_ j: Int) {
        let counts = jobs[j].counts
        guard !jobs[j].state.isOver, counts.finished + counts.failed == counts.total else { return }
        change(j, to: counts.failed == 0 ? .finished : .failed)
    }
}

// MARK: - Retry

extension Scheduler {
    mutating func retry(_ id: JobID, _ request: RetryRequest) {
        guard let j = jobPlaces[id] else { return ignore("there is no job \(id)") }
        let chosen: [Int]
        if let named = request.segments {
            chosen = Set(named).filter(jobs[j].segments.indices.contains).sorted()
        } else {
            chosen = jobs[j].segments.indices.filter { jobs[j].segments[$0].state == .failed }
        }
        if chosen.isEmpty, jobs[j].state == .finished { return ignore("job \(id) has nothing to retry") }
        let node = request.node.map { nodePlace($0) }
        for segment in chosen { reopen(j, segment, onlyNode: node) }
        jobs[j].holds = 0
        jobs[j].heldUntil = nil
        jobs[j].declineUntil = nil
        if jobs[j].state.isOver { change(j, to: .running) }
        refreshQueues(j)
        settle(j)
        offerIdleSlots(jobs[j].encoder)
    }

    mutating func disprove(_ id: JobID, _ segment: Int, _ node: String, _ failure: Failure, isCertain: Bool) {
        guard let j = jobPlaces[id], jobs[j].segments.indices.contains(segment),
            jobs[j].segments[segment].state == .finished, jobs[j].state != .cancelled
        else { return ignore("segment \(segment) of job \(id) is not finished") }
        let n = nodePlace(node)
        let (failed, onlyNode) = (jobs[j].segments[segment].failedNodes, jobs[j].segments[segment].onlyNode)
        reopen(j, segment, onlyNode: onlyNode)
        jobs[j].segments[segment].failedNodes = failed.contains(n) ? failed : failed + [n]
        jobs[j].segments[segment].failure = failure
        jobs[j].lastFailure = failure
        if isCertain { convict(n, of: jobs[j].encoder, failure) }
        if jobs[j].state.isOver { change(j, to: .running) }
        refreshQueues(j)
        offerIdleSlots(jobs[j].encoder)
        giveUpIfHopeless(j)
    }

    private mutating func reopen(_ j: Int, _ segment: Int, onlyNode: Int?) {
        for id in jobs[j].segments[segment].leases {
            if leases[id]?.state == .storing {
                endLease(id, as: .revoked, nil)
                actions.append(.discard(id, .stale))
            } else {
                revoke(id, because: .retried)
            }
        }
        forgetAway(j, segment)
        jobs[j].segments[segment].failedNodes = []
        jobs[j].segments[segment].tries = SegmentRun.Tries()
        jobs[j].segments[segment].outcome = nil
        jobs[j].segments[segment].failure = nil
        jobs[j].segments[segment].awaitsReattach = false
        jobs[j].segments[segment].onlyNode = onlyNode
        setState(j, segment, .pending)
        addPending(j, segment)
    }
}

// MARK: - Segments

extension Scheduler {
    mutating func setState(_ j: Int, _ segment: Int, _ state: SegmentState) {
        let old = jobs[j].segments[segment].state
        guard old != state else { return }
        jobs[j].counts[old] -= 1
        jobs[j].counts[state] += 1
        jobs[j].segments[segment].state = state
    }

    mutating func addPending(_ j: Int, _ segment: Int) {
        guard jobs[j].pending.insert(segment) else { return }
        let weight = jobs[j].segments[segment].weight
        jobs[j].pendingWeight += weight
        jobs[j].tail?.insert(WeightKey(weight: weight, segment: segment))
    }

    mutating func removePending(_ j: Int, _ segment: Int) {
        guard jobs[j].pending.remove(segment) else { return }
        let weight = jobs[j].segments[segment].weight
        // Sums of what was added drift by rounding: an empty list weighs nothing.
        jobs[j].pendingWeight = jobs[j].pending.isEmpty ? 0 : jobs[j].pendingWeight - weight
        jobs[j].tail?.remove(WeightKey(weight: weight, segment: segment))
    }

    /// Puts a segment without leases back in the line; for one that failed for good, or is done, does nothing.
    mutating func requeueIfIdle(_ j: Int, _ segment: Int) {
        let run = jobs[j].segments[segment]
        guard run.leases.isEmpty, run.state == .running || run.state == .storing else { return }
        setState(j, segment, .pending)
        if !run.awaitsReattach { addPending(j, segment) }
    }

    mutating func forgetAway(_ j: Int, _ segment: Int) {
        for lease in jobs[j].segments[segment].awayLeases { awayLeases[lease] = nil }
        jobs[j].segments[segment].awayLeases = []
    }

    /// Keeps the job's places in the queues of its encoder true.
    mutating func refreshQueues(_ j: Int) {
        let job = jobs[j]
        let mayLease =
            !job.isRemoved && job.heldUntil == nil && (job.state == .waiting || job.state == .running)
        let key = JobKey(priority: job.spec.priority, active: job.active, job: j)
        let runnableKey = mayLease && !job.pending.isEmpty ? key : nil
        if runnableKey != job.runnableKey {
            if let old = job.runnableKey { pools[job.encoder].runnable.remove(old) }
            if let runnableKey { pools[job.encoder].runnable.insert(runnableKey) }
            jobs[j].runnableKey = runnableKey
        }
        let races = mayLease && job.pending.isEmpty && !job.races.isEmpty && job.spec.policy.speculation
        let racingKey = races ? key : nil
        if racingKey != job.racingKey {
            if let old = job.racingKey { pools[job.encoder].racing.remove(old) }
            if let racingKey { pools[job.encoder].racing.insert(racingKey) }
            jobs[j].racingKey = racingKey
        }
    }
}

extension JobStatus.Counts {
    subscript(state: SegmentState) -> Int {
        get {
            switch state {
            case .pending: pending
            case .running: running
            case .storing: storing
            case .finished: finished
            case .failed: failed
            }
        }
        set {
            switch state {
            case .pending: pending = newValue
            case .running: running = newValue
            case .storing: storing = newValue
            case .finished: finished = newValue
            case .failed: failed = newValue
            }
        }
    }
}
