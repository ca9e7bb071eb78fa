internal import ClusterProtocol

extension Scheduler {
    struct Work {
        let job: Int
        let segment: Int
        let isSpeculative: Bool
    }

    /// Gives the slot, which has just become free, a lease; or puts it with the idle ones.
    mutating func offerSlot(_ s: Int) {
        let n = slots[s].node
        if let work = findWork(for: n, slot: s) { return grant(work, to: s) }
        if !nodes[n].idle.contains(s) { nodes[n].idle.append(s) }
        refreshIdle(n)
    }

    /// Gives the node's idle slots what there is.
    mutating func offerSlots(of n: Int) {
        while let s = nodes[n].idle.last, let work = findWork(for: n, slot: s) {
            nodes[n].idle.removeLast()
            grant(work, to: s)
        }
        refreshIdle(n)
    }

    /// Gives all idle slots of an encoder what there is: after events that concern whole jobs.
    mutating func offerIdleSlots(_ encoder: Int) {
        guard !pools[encoder].idle.isEmpty, !pools[encoder].runnable.isEmpty || !pools[encoder].racing.isEmpty else {
            return
        }
        for key in Array(pools[encoder].idle) {
            offerSlots(of: key.node)
            if pools[encoder].runnable.isEmpty && pools[encoder].racing.isEmpty { return }
        }
    }

    /// Gives a segment that came back in the line to the fastest idle node that may have it.
    mutating func offerSegment(_ j: Int, _ segment: Int) {
        let encoder = jobs[j].encoder
        guard jobs[j].runnableKey != nil, jobs[j].pending.contains(segment) else { return }
        for key in pools[encoder].idle where mayHave(key.node, j, segment) {
            guard let s = nodes[key.node].idle.popLast() else { continue }
            return grant(Work(job: j, segment: segment, isSpeculative: false), to: s)
        }
    }

    mutating func grant(_ work: Work, to s: Int) {
        let id = nextLease
        nextLease = LeaseID(id.number + 1)
        slots[s].isReady = false
        jobs[work.job].leases += 1
        if work.isSpeculative { jobs[work.job].speculativeLeases += 1 }
        beginLease(id, work.job, work.segment, s, isSpeculative: work.isSpeculative, granted: now)
        actions.append(
            .grant(
                Grant(
                    lease: id, worker: slots[s].worker, job: jobs[work.job].spec.id, segment: work.segment,
                    isSpeculative: work.isSpeculative)))
    }

    /// The first job in order that has something for the node, else a segment that it would end sooner than whoever
    /// works on it now.
    private mutating func findWork(for n: Int, slot s: Int) -> Work? {
        guard !nodes[n].isDraining else { return nil }
        let usable = nodes[n].encoders.filter(\.mayTakeLease).map(\.encoder)
        var heads = usable.map { pools[$0].runnable.first }
        while let best = heads.indices.filter({ heads[$0] != nil }).min(by: { isBefore(heads[$0], heads[$1]) }),
            let key = heads[best]
        {
            if let segment = findSegment(for: n, in: key.job) {
                return Work(job: key.job, segment: segment, isSpeculative: false)
            }
            heads[best] = pools[usable[best]].runnable.first(above: key)
        }
        for encoder in usable {
            for key in pools[encoder].racing {
                guard let segment = findRace(for: n, slot: s, in: key.job) else { continue }
                return Work(job: key.job, segment: segment, isSpeculative: true)
            }
        }
        return nil
    }

    private func isBefore(_ a: JobKey?, _ b: JobKey?) -> Bool {
        guard let a, let b else { return a != nil }
        return a < b
    }

    private mutating func findSegment(for n: Int, in j: Int) -> Int? {
        guard !jobs[j].barredNodes.contains(n) else { return nil }
        refreshTail(j)
        if jobs[j].tail != nil { return findTailSegment(for: n, in: j) }
        for segment in jobs[j].pending where mayHave(n, j, segment) { return segment }
        return nil
    }

    /// Whether the node may be given the segment: not where it failed it, unless every able node did, when the budgets
    /// alone decide how often it is tried.
    func mayHave(_ n: Int, _ j: Int, _ segment: Int) -> Bool {
        if let only = jobs[j].segments[segment].onlyNode { return only == n && !jobs[j].barredNodes.contains(n) }
        guard !jobs[j].barredNodes.contains(n) else { return false }
        let failed = jobs[j].segments[segment].failedNodes
        guard failed.contains(n) else { return true }
        let able = pools[jobs[j].encoder].able
        let barred = jobs[j].barredNodes
        let left = able.count - failed.count { able.contains($0) && !barred.contains($0) }
        return left - barred.count { able.contains($0) } <= 0
    }
}
