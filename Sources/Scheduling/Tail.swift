/// The end of a job: when few segments are left, the order in which they end matters, not the order in which they begin.
extension Scheduler {
    /// Rounds of segments that count as the tail: enough for a slot of a third of the mean speed to be left out in time.
    private static let tailRounds = 3

    /// Enters the tail (or leaves it, after a retry of many segments).
    mutating func refreshTail(_ j: Int) {
        let limit = Self.tailRounds * max(pools[jobs[j].encoder].slots, 1)
        if jobs[j].tail == nil, jobs[j].pending.count <= limit {
            var tail = OrderedSet<WeightKey>()
            for segment in jobs[j].pending {
                tail.insert(WeightKey(weight: jobs[j].segments[segment].weight, segment: segment))
            }
            jobs[j].tail = tail
        } else if jobs[j].tail != nil, jobs[j].pending.count > 2 * limit {
            jobs[j].tail = nil
        }
    }

    /// The heaviest segment that the node ends before the job is predicted to end; a slow node gets a light one, or none
    /// where the fast ones finish all of it sooner.
    mutating func findTailSegment(for n: Int, in j: Int) -> Int? {
        guard let tail = jobs[j].tail else { return nil }
        guard let speed = speed(of: n, class: jobs[j].speedClass), speed > 0, jobs[j].busySpeed > 0 else {
            return heaviest(tail, for: n, in: j)
        }
        let end = predictedTailEnd(j, with: speed)
        let fit = speed * (end - now.seconds)
        var key = tail.last(below: WeightKey(weight: fit, segment: -1))
        while let found = key {
            if mayHave(n, j, found.segment) { return found.segment }
            key = tail.last(below: found)
        }
        if declines(j, speed, until: end) { return nil }
        for found in tail where mayHave(n, j, found.segment) { return found.segment }
        return nil
    }

    private func heaviest(_ tail: OrderedSet<WeightKey>, for n: Int, in j: Int) -> Int? {
        var key = tail.last
        while let found = key {
            if mayHave(n, j, found.segment) { return found.segment }
            key = tail.last(below: found)
        }
        return nil
    }

    /// Work does not divide like a fluid: on average half a segment a slot comes on top.
    private func predictedTailEnd(_ j: Int, with speed: Double) -> Double {
        let job = jobs[j]
        let total = job.busySpeed + speed
        let fluid = (job.pendingWeight + job.busySpeedEnds + speed * now.seconds) / total
        let meanWeight = job.pendingWeight / Double(max(job.pending.count, 1))
        let meanSpeed = job.busySpeed / Double(max(job.active, 1))
        return fluid + 0.5 * meanWeight / meanSpeed
    }

    /// A slow slot leaves the rest to faster ones that are at work, for as long as the job should still take: if the
    /// prediction proves wrong, it takes part again.
    private mutating func declines(_ j: Int, _ speed: Double, until end: Double) -> Bool {
        guard jobs[j].active > 0, speed < 0.9 * jobs[j].busySpeed / Double(jobs[j].active) else { return false }
        if let until = jobs[j].declineUntil { return now < until }
        let until = Instant(seconds: max(end, now.seconds))
        guard until > now else { return false }
        jobs[j].declineUntil = until
        timers.insert(Timer(at: until, kind: .declineEnd, subject: UInt64(j)))
        return true
    }

    mutating func declineEnded(_ j: Int) {
        guard !jobs[j].isRemoved else { return }
        offerIdleSlots(jobs[j].encoder)
    }
}

// MARK: - Races

extension Scheduler {
    /// Leases looked at before a slot is left idle: the first few are barred for a node only by accident.
    private static let raceLooks = 16

    /// Of the leases that run alone, the one predicted to end last, if the node would end its segment clearly sooner.
    mutating func findRace(for n: Int, slot s: Int, in j: Int) -> Int? {
        guard let speed = speed(of: n, class: jobs[j].speedClass), speed > 0 else { return nil }
        predictUnknown(j)
        var key = jobs[j].races.last
        for _ in 0..<Self.raceLooks {
            guard let found = key, let lease = leases[found.lease] else { return nil }
            let own = jobs[j].segments[lease.segment].weight / speed
            // A little sooner is not worth a slot's work: the prediction is not that exact.
            guard found.at.seconds > now.seconds + 1.1 * own + 0.05 else { return nil }
            // What has crashed a slot is tried by one at a time: two that crash on it side by side would count for more than one.
            let isSuspect = jobs[j].segments[lease.segment].tries.crashes > 0
            if lease.slot != s, !isSuspect, mayHave(n, j, lease.segment) { return lease.segment }
            key = jobs[j].races.last(below: found)
        }
        return nil
    }

    /// Leases that were granted before anybody had done such work sort as ending last. Now there is a mean to go by.
    private mutating func predictUnknown(_ j: Int) {
        guard let mean = speeds.means[jobs[j].speedClass], mean > 0 else { return }
        while let key = jobs[j].races.last, key.at == .never, let lease = leases[key.lease] {
            let end = lease.granted + Interval(seconds: jobs[j].segments[lease.segment].weight / mean)
            let guess = end > now ? end : endOfOverdue(lease)
            // Below `never`, so that it leaves the end of the order.
            setPrediction(key.lease, min(guess, Instant(nanoseconds: .max - 1)))
        }
    }

    /// Gives the lease's segment to the fastest idle node too, where that helps.
    mutating func offerRace(_ id: LeaseID) {
        guard let j = leases[id]?.job, jobs[j].racingKey != nil else { return }
        guard let key = pools[jobs[j].encoder].idle.first, let s = nodes[key.node].idle.last,
            let segment = findRace(for: key.node, slot: s, in: j)
        else { return }
        nodes[key.node].idle.removeLast()
        grant(Work(job: j, segment: segment, isSpeculative: true), to: s)
    }

    /// Keeps the segment's lease among the races exactly while it runs alone.
    mutating func updateRace(_ j: Int, _ segment: Int) {
        let run = jobs[j].segments[segment]
        for id in run.leases {
            guard let lease = leases[id], lease.state == .running else { continue }
            let key = FinishKey(at: raceKey(lease), lease: id)
            if run.leases.count == 1 { jobs[j].races.insert(key) } else { jobs[j].races.remove(key) }
        }
    }

    func raceKey(_ lease: Lease) -> Instant { lease.predictedEnd ?? .never }
}

// MARK: - Predictions

extension Scheduler {
    /// Frames say more than the plan once enough of them are there; encoders look ahead, so the first ones come late.
    mutating func predictFromProgress(_ id: LeaseID) {
        guard let lease = leases[id] else { return }
        let expected = jobs[lease.job].segments[lease.segment].frames
        guard expected > 0 else { return }
        let done = min(Double(lease.frames) / Double(expected), 1)
        guard done >= 0.25 else { return }
        let elapsed = (now - lease.granted).seconds
        repredict(id, now + Interval(seconds: elapsed * (1 - done) / done))
    }

    private mutating func repredict(_ id: LeaseID, _ end: Instant) {
        let old = leases[id]?.predictedEnd ?? .zero
        setPrediction(id, end)
        if end > old { offerRace(id) }
    }

    private mutating func setPrediction(_ id: LeaseID, _ end: Instant) {
        guard let lease = leases[id], lease.state == .running, lease.predictedEnd != end else { return }
        let j = lease.job
        let isRace = jobs[j].races.remove(FinishKey(at: raceKey(lease), lease: id))
        addBusy(lease, sign: -1)
        leases[id]?.predictedEnd = end
        if let changed = leases[id] { addBusy(changed, sign: 1) }
        if isRace { jobs[j].races.insert(FinishKey(at: end, lease: id)) }
        if lease.overdueTimer == nil { armOverdue(id, at: end) }
    }

    mutating func addBusy(_ lease: Lease, sign: Double) {
        guard let speed = lease.speed, let end = lease.predictedEnd else { return }
        let j = lease.job
        jobs[j].busySpeed += sign * speed
        jobs[j].busySpeedEnds += sign * speed * end.seconds
        if jobs[j].active == 0 { (jobs[j].busySpeed, jobs[j].busySpeedEnds) = (0, 0) }
    }

    /// A lease that goes on beyond its prediction is predicted to take half as long again, each time; the margin keeps
    /// those that are only just late from being looked at.
    mutating func overdue(_ id: LeaseID) {
        guard let lease = leases[id], lease.state == .running, let end = lease.predictedEnd else { return }
        leases[id]?.overdueTimer = nil
        let due = overdueTime(lease, end)
        if due > now { return armOverdue(id, at: end) }
        repredict(id, endOfOverdue(lease))
    }

    private func endOfOverdue(_ lease: Lease) -> Instant {
        now + Interval(seconds: 0.5 * max((now - lease.granted).seconds, 0.001))
    }

    mutating func armOverdue(_ id: LeaseID, at end: Instant) {
        guard let lease = leases[id] else { return }
        let at = max(overdueTime(lease, end), now + Interval(seconds: 0.001))
        timers.insert(Timer(at: at, kind: .overdue, subject: id.number))
        leases[id]?.overdueTimer = at
    }

    private func overdueTime(_ lease: Lease, _ end: Instant) -> Instant {
        end + Interval(seconds: 0.15 * max((end - lease.granted).seconds, 0))
    }
}
