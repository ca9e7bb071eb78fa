import ClusterProtocol
import Scheduling

/// What slot processes and their network do.
extension Simulation {
    // MARK: Messages

    /// A message to the coordinator: in order for each process, as on one connection, sometimes late, sometimes twice.
    func tell(_ index: Int, _ event: Event) {
        guard partitions[processes[index].node] == nil else { return processes[index].unsent.append(event) }
        var delay = random.within(0.001...0.01)
        if random.chance(scenario.faults.late) { delay += random.within(0...20) }
        let at = max(now + nanoseconds(delay), processes[index].lastDelivery)
        processes[index].lastDelivery = at
        queue.plan(.deliver(event, epoch: epoch, from: index), at: at)
        if random.chance(scenario.faults.duplicate) {
            let later = at + nanoseconds(random.within(0...10))
            queue.plan(.deliver(event, epoch: epoch, from: index), at: later)
        }
    }

    func connect(_ index: Int) {
        guard processes[index].isAlive else { return }
        let worker = processes[index].worker
        let encoders = scenario.nodes[processes[index].node].encoders
        let unsent = processes[index].unsent
        processes[index].unsent = []
        let held = processes[index].work?.lease ?? unsent.compactMap(Self.resultLease).last
        tell(
            index,
            .workerJoined(worker, Capabilities(encoders: encoders), holding: held, predecessor: Self.dead))
        for event in unsent { if case .resultReceived = event { tell(index, event) } }
        if processes[index].work == nil { tell(index, .workerReady(worker)) }
    }

    private static func resultLease(_ event: Event) -> LeaseID? {
        if case .resultReceived(let lease, _, _, _) = event { return lease }
        return nil
    }

    func command(_ action: Action, _ index: Int, _ sent: Int) {
        guard sent == epoch, processes[index].isAlive, partitions[processes[index].node] == nil else { return }
        switch action {
        case .grant(let grant) where grant.worker == processes[index].worker: begin(index, grant)
        case .revoke(let lease, let worker, let reason) where worker == processes[index].worker:
            if reason == .stalled { return kill(index, reports: true) }
            if let work = processes[index].work, work.lease != lease { return }
            // A hung process does not hear it; its supervisor kills it.
            if case .hang = processes[index].work?.ending { return kill(index, reports: true) }
            processes[index].work = nil
            processes[index].version += 1
            tell(index, .workerReady(worker))
        default: break
        }
    }

    // MARK: Work

    private func begin(_ index: Int, _ grant: Grant) {
        guard processes[index].work == nil else { return }
        let place = Scenario.Place(job: grant.job, segment: grant.segment)
        let node = scenario.nodes[processes[index].node]
        let spec = scenario.jobs.first { $0.spec.id == grant.job }?.spec
        let weight = spec?.segments[grant.segment].weight ?? 1
        let noise = 1 + scenario.noise * (2 * random.unit() - 1)
        var seconds = weight / node.speed * noise
        let ending = fate(of: grant, place, node, &seconds)
        processes[index].version += 1
        processes[index].work = Work(
            lease: grant.lease, job: grant.job, segment: grant.segment, started: now, seconds: seconds, ending: ending)
        let version = processes[index].version
        plan(.end(process: index, version: version), in: seconds)
        guard scenario.reportsProgress else { return }
        for quarter in 1...3 {
            plan(.progress(process: index, version: version, quarter: quarter), in: seconds * Double(quarter) / 4)
        }
    }

    private func fate(
        of grant: Grant, _ place: Scenario.Place, _ node: Scenario.NodeModel, _ seconds: inout Double
    ) -> Ending {
        let faults = scenario.faults
        if node.fails {
            seconds *= 0.02
            return .failure(Self.broken)
        }
        if scenario.killers.contains(place) { return .death }
        if scenario.poisoned.contains(place) {
            seconds *= 0.1
            return .failure(Self.poison)
        }
        if random.chance(faults.failure) {
            seconds *= random.unit()
            return .failure(random.chance(0.5) ? Self.broken : Self.odd)
        }
        if random.chance(faults.death) {
            seconds *= random.unit()
            return .death
        }
        if random.chance(faults.hang) {
            seconds *= random.unit()
            return .hang
        }
        if random.chance(faults.slowdown) { seconds *= 8 }
        let isCorrupt = random.chance(faults.corruption)
        let isAltered = random.chance(faults.alteration)
        return .result(hash: "\(place)" + (isAltered ? " altered by \(grant.lease)" : ""), isCorrupt: isCorrupt)
    }

    func report(_ index: Int, _ version: Int, _ quarter: Int) {
        guard processes[index].version == version, let work = processes[index].work else { return }
        tell(index, .leaseProgressed(work.lease, processes[index].worker, frames: 250 * quarter / 4))
    }

    func end(_ index: Int, _ version: Int) {
        guard processes[index].version == version, let work = processes[index].work else { return }
        let worker = processes[index].worker
        switch work.ending {
        case .hang: processes[index].version += 1
        case .death: kill(index, reports: true)
        case .failure(let failure):
            processes[index].work = nil
            tell(index, .leaseFailed(work.lease, worker, failure))
            tell(index, .workerReady(worker))
        case .result(let hash, let isCorrupt):
            processes[index].work = nil
            hashes[work.lease] = hash
            if isCorrupt { corrupt.insert(work.lease) }
            tell(index, .resultReceived(work.lease, worker, hash: hash, frames: 250))
            tell(index, .workerReady(worker))
        }
    }

    // MARK: Life and death

    func start(_ index: Int) {
        processes[index].isAlive = true
        processes[index].version += 1
        processes[index].work = nil
        processes[index].unsent = []
        processes[index].worker.incarnation += 1
        if partitions[processes[index].node] == nil { connect(index) }
    }

    /// The supervisor says so when it can, and starts the next one.
    func kill(_ index: Int, reports: Bool) {
        let worker = processes[index].worker
        processes[index].isAlive = false
        processes[index].work = nil
        processes[index].version += 1
        processes[index].unsent = []
        if reports, partitions[processes[index].node] == nil, random.chance(0.5) {
            tell(index, .workerLost(worker, Self.dead))
        }
        plan(.start(process: index), in: random.within(0.1...1))
    }

    func cut(_ node: Int) {
        guard partitions[node] == nil else { return }
        partitionCount += 1
        partitions[node] = partitionCount
        plan(.lossNoticed(node: node, partition: partitionCount), in: 10)
        plan(.heal(node: node), in: random.within(2...60))
    }

    func noticeLoss(_ node: Int, _ partition: Int) {
        guard partitions[node] == partition else { return }
        for process in processes where process.node == node {
            ledger.workerGone(process.worker)
            handle(.workerLost(process.worker, Self.silent))
        }
    }

    func heal(_ node: Int) {
        partitions[node] = nil
        for index in processes.indices where processes[index].node == node && processes[index].isAlive {
            connect(index)
        }
    }
}
