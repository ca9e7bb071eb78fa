internal import ClusterProtocol

extension Scheduler {
    /// How an attempt came to its end, which says how much it tells about the segment.
    enum Ending {
        /// The slot said what went wrong: it is about this segment and this node.
        case answer
        /// The slot died or made no frames: perhaps the segment, perhaps the machine.
        case death
        /// The connection broke: hardly the segment.
        case disconnect
    }

    /// Books a failed attempt on the segment and the node, and gives the segment to somebody else or up.
    mutating func charge(_ lease: Lease, _ failure: Failure, _ ending: Ending) {
        let (j, segment) = (lease.job, lease.segment)
        jobs[j].lastFailure = failure
        jobs[j].segments[segment].failure = failure
        count(failure, ending, j, segment, lease.node)
        blame(lease, failure, ending)
        let isIdle = jobs[j].segments[segment].leases.isEmpty
        if isIdle, let final = exhausted(j, segment, failure) {
            fail(j, segment, final)
        } else {
            requeueIfIdle(j, segment)
        }
        refreshQueues(j)
        settle(j)
        if isIdle { offerSegment(j, segment) }
        if let place = nodes[lease.node].place(of: jobs[j].encoder), nodes[lease.node].encoders[place].until != nil {
            for key in Array(pools[jobs[j].encoder].runnable) { giveUpIfHopeless(key.job) }
        }
    }

    private mutating func count(_ failure: Failure, _ ending: Ending, _ j: Int, _ segment: Int, _ n: Int) {
        var avoidsNode = true
        switch (ending, failure.retry) {
        case (.death, _):
            jobs[j].segments[segment].tries.deaths += 1
            if failure.fault == .source { jobs[j].segments[segment].tries.crashes += 1 }
        case (.disconnect, _):
            jobs[j].segments[segment].tries.disconnects += 1
            avoidsNode = false
        case (.answer, _) where failure.boundary == .cancelled:
            // The node stopped by its own will (preempted, shut down).
            jobs[j].segments[segment].tries.disconnects += 1
            avoidsNode = false
        case (.answer, .retry):
            jobs[j].segments[segment].tries.retries += 1
            avoidsNode = false
        case (.answer, .elsewhere):
            jobs[j].segments[segment].tries.elsewhere += 1
        case (.answer, .giveUp):
            jobs[j].segments[segment].tries.gaveUp = true
        }
        if avoidsNode, !jobs[j].segments[segment].failedNodes.contains(n) {
            jobs[j].segments[segment].failedNodes.append(n)
        }
    }

    /// The failure that the segment ends with, where a budget is used up.
    private func exhausted(_ j: Int, _ segment: Int, _ failure: Failure) -> Failure? {
        let tries = jobs[j].segments[segment].tries
        let policy = jobs[j].spec.policy
        if tries.deaths >= max(policy.deathBudget, 1) {
            var final = failure
            final.message = "\(tries.deaths) workers died or hung on this segment. The last time: \(failure.message)"
            final.advice =
                "This segment kills workers: try other settings or another encoder for it (weft retry --segment)."
            final.retry = .giveUp
            if final.fault == .source { final.exitCode = .badSource }
            return final
        }
        if tries.crashes >= max(policy.crashBudget, 1) {
            var final = failure
            final.message =
                "\(tries.crashes) workers crashed or hung on this segment, each by itself. The last time: \(failure.message)"
            final.advice =
                "The source crashes a codec or a filter here: try another encoder or filter for it (weft retry --segment), or leave "
                + "this stretch out with --start and --end."
            final.retry = .giveUp
            final.fault = .source
            final.exitCode = .badSource
            return final
        }
        let isUsedUp =
            tries.gaveUp || tries.retries >= max(policy.retryBudget, 1) || tries.elsewhere >= max(policy.nodeBudget, 1)
            || tries.disconnects >= max(policy.disconnectBudget, 1)
        return isUsedUp ? failure : nil
    }

    mutating func fail(_ j: Int, _ segment: Int, _ failure: Failure) {
        removePending(j, segment)
        forgetAway(j, segment)
        jobs[j].segments[segment].awaitsReattach = false
        jobs[j].segments[segment].failure = failure
        setState(j, segment, .failed)
        actions.append(.segmentFailed(jobs[j].spec.id, segment: segment, failure))
    }
}

// MARK: - Quarantine

extension Scheduler {
    /// A failure counts against the node unless source or settings are to blame.
    private mutating func blame(_ lease: Lease, _ failure: Failure, _ ending: Ending) {
        if ending == .answer, failure.fault == .source || failure.fault == .settings { return }
        let n = lease.node
        guard let place = nodes[n].place(of: jobs[lease.job].encoder) else { return }
        let encoder = nodes[n].encoders[place]
        // What was granted before the quarantine says nothing new.
        if let since = encoder.quarantinedAt, lease.granted <= since { return }
        // All slots of a machine die at once when it reboots or its link breaks: that is one strike.
        if ending != .answer, let last = encoder.lastStrike, lease.granted <= last { return }
        nodes[n].encoders[place].strikes += 1
        nodes[n].encoders[place].lastStrike = now
        nodes[n].encoders[place].cause = failure
        if encoder.probation > 0 || encoder.strikes + 1 >= max(configuration.strikesBeforeQuarantine, 1) {
            quarantine(n, place, failure)
        }
    }

    private mutating func quarantine(_ n: Int, _ place: Int, _ failure: Failure) {
        let rounds = nodes[n].encoders[place].rounds
        let length = configuration.firstQuarantine.seconds * Double(UInt64(1) << UInt64(min(rounds, 40)))
        let limited = min(Interval(seconds: length), configuration.longestQuarantine)
        let until = rounds + 1 >= configuration.quarantinesBeforeExile ? Instant.never : now + limited
        nodes[n].encoders[place].rounds = rounds + 1
        nodes[n].encoders[place].strikes = 0
        nodes[n].encoders[place].quarantinedAt = now
        nodes[n].encoders[place].until = until
        // The longer the record, the more it takes to be trusted with all slots again.
        nodes[n].encoders[place].probation = rounds + 1
        let encoder = nodes[n].encoders[place].encoder
        if until != .never {
            timers.insert(Timer(at: until, kind: .quarantineEnd, subject: UInt64(n), detail: encoder))
        }
        actions.append(
            .quarantine(node: nodes[n].name, encoder: pools[encoder].encoder, until: until, because: failure))
        refreshNode(n)
        if until == .never { ableNodesChanged(encoder) }
    }

    /// One such result is enough: a machine that alters what it computes does not say when it will do so again.
    mutating func convict(_ n: Int, of encoder: Int, _ failure: Failure) {
        guard let place = nodes[n].place(of: encoder) else { return }
        nodes[n].encoders[place].cause = failure
        // Results are praised when they are stored: those that were found wrong later must not have shortened this.
        nodes[n].encoders[place].convictions += 1
        nodes[n].encoders[place].rounds = max(
            nodes[n].encoders[place].rounds, nodes[n].encoders[place].convictions - 1)
        // What it made before it was sent away says nothing new.
        if nodes[n].encoders[place].until == nil { quarantine(n, place, failure) }
    }

    mutating func quarantineEnded(_ n: Int, _ encoder: Int) {
        guard let place = nodes[n].place(of: encoder), let until = nodes[n].encoders[place].until, until <= now else {
            return
        }
        nodes[n].encoders[place].until = nil
        refreshNode(n)
        offerSlots(of: n)
    }

    /// A success counts failures down again, and ends probation step by step.
    mutating func praise(_ lease: Lease) {
        let n = lease.node
        guard let place = nodes[n].place(of: jobs[lease.job].encoder) else { return }
        nodes[n].encoders[place].strikes = max(0, nodes[n].encoders[place].strikes - 1)
        let since = nodes[n].encoders[place].quarantinedAt ?? .zero
        guard nodes[n].encoders[place].probation > 0, lease.granted > since else { return }
        nodes[n].encoders[place].probation -= 1
        // Half of the record stays: a node that comes and goes is out for longer each time.
        if nodes[n].encoders[place].probation == 0 { nodes[n].encoders[place].rounds /= 2 }
        refreshIdle(n)
        offerSlots(of: n)
    }

    mutating func release(_ name: String) {
        guard let n = nodePlaces[name] else { return ignore("there is no node \(name)") }
        for place in nodes[n].encoders.indices {
            nodes[n].encoders[place].strikes = 0
            nodes[n].encoders[place].rounds = 0
            nodes[n].encoders[place].convictions = 0
            nodes[n].encoders[place].probation = 0
            nodes[n].encoders[place].until = nil
        }
        actions.append(.record(.nodeReleased(name)))
        refreshNode(n)
        offerSlots(of: n)
    }

    /// Every node that could work for the job has been quarantined again and again, or is barred: waiting longer helps
    /// nobody. What is left fails, what is done is kept, and `weft retry` goes on from there.
    mutating func giveUpIfHopeless(_ j: Int) {
        let job = jobs[j]
        let limit = job.spec.policy.quarantinesBeforeGivingUp
        guard limit > 0, job.active == 0, job.counts.storing == 0, !job.pending.isEmpty, !job.state.isOver,
            job.state != .paused, let failure = hopelessness(j, limit)
        else { return }
        for segment in job.pending { fail(j, segment, jobs[j].segments[segment].failure ?? failure) }
        refreshQueues(j)
        settle(j)
    }

    private func hopelessness(_ j: Int, _ limit: Int) -> Failure? {
        let encoder = jobs[j].encoder
        var cause: Failure?
        for (n, node) in nodes.enumerated() where node.connected > 0 && !node.isDraining {
            guard let place = node.place(of: encoder), node.encoders[place].isOffered else { continue }
            if jobs[j].barredNodes.contains(n) {
                cause = cause ?? jobs[j].lastFailure
                continue
            }
            // A job that has tried nothing yet is not judged by what others met, unless nobody will ever take it.
            let isOut = node.encoders[place].until == .never
            let isBad = jobs[j].leases > 0 && node.encoders[place].until != nil && node.encoders[place].rounds >= limit
            guard isOut || isBad else { return nil }
            cause = node.encoders[place].cause ?? cause
        }
        return cause
    }
}
