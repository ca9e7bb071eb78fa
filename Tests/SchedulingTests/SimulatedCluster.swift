import ClusterProtocol
import Scheduling

/// What slots, networks, disks and operators do.
extension Simulation {
    static let dead = Failure(.hardware, "The slot was killed by signal 9.", retry: .elsewhere, fault: .worker)
    static let silent = Failure(.transport, "No sign of life for 10 s.", retry: .elsewhere, fault: .environment)
    static let broken = Failure(.encoder, "The encoder could not be opened.", retry: .elsewhere, fault: .worker)
    static let odd = Failure(.resources, "Out of memory.", retry: .retry, fault: .environment)
    static let poison = Failure(.decoder, "The data is invalid.", retry: .giveUp, fault: .source)
    static let altered = Failure(.transport, "The bytes do not match their hash.", retry: .elsewhere, fault: .worker)
    static let full = Failure(.storage, "No space left on device.", retry: .retry, fault: .environment)

    func perform(_ item: Item) {
        switch item {
        case .submit(let index):
            ledger.submitted(scenario.jobs[index].spec.id)
            handle(.jobSubmitted(scenario.jobs[index].spec, progress: nil))
        case .deliver(let event, let sent, let process): deliver(event, sent, process)
        case .command(let action, let process, let sent): command(action, process, sent)
        case .progress(let process, let version, let quarter): report(process, version, quarter)
        case .end(let process, let version): end(process, version)
        case .start(let process): start(process)
        case .stored(let lease, let place, let sent): stored(lease, place, sent)
        case .partition(let node): cut(node)
        case .lossNoticed(let node, let partition): noticeLoss(node, partition)
        case .heal(let node): heal(node)
        case .restart: restart()
        case .connect(let process, let version, let sent):
            if processes[process].version == version, sent == epoch { connect(process) }
        case .operatorMove: operate()
        }
    }

    // MARK: Coordinator

    func obey(_ action: Action) {
        switch action {
        case .grant(let grant): send(action, to: grant.worker)
        case .revoke(_, let worker, _): send(action, to: worker)
        case .store(let lease, let job, let segment):
            let place = Scenario.Place(job: job, segment: segment)
            storing[lease] = place
            plan(.stored(lease, place, epoch: epoch), in: 0.02)
        default: break
        }
    }

    private func send(_ action: Action, to worker: WorkerID) {
        guard let process = places[Slot(node: worker.node, slot: worker.slot)] else { return }
        plan(.command(action, process: process, epoch: epoch), in: random.within(0.001...0.01))
    }

    private func stored(_ lease: LeaseID, _ place: Scenario.Place, _ sent: Int) {
        guard sent == epoch else { return }
        storing[lease] = nil
        if corrupt.contains(lease) { return handle(.resultRejected(lease, Self.altered)) }
        if random.chance(scenario.faults.storeFailure) { return handle(.storeFailed(lease, Self.full)) }
        accept(lease, place)
        handle(.resultStored(lease))
    }

    private func deliver(_ event: Event, _ sent: Int, _ process: Int?) {
        guard sent == epoch || process == nil else { return }
        if case .workerJoined = event, let process { processes[process].isConnected = true }
        if case .workerLost(let worker, _) = event { ledger.workerGone(worker) }
        handle(event)
    }

    private func restart() {
        let before = scheduler.nextLease
        epoch += 1
        // Commits that were under way had reached the disk, or not.
        for (lease, place) in storing.sorted(by: { $0.key < $1.key })
        where random.chance(0.5) && !corrupt.contains(lease) && ledger.open[lease] != nil {
            accept(lease, place)
        }
        storing = [:]
        ledger.coordinatorDied()
        scheduler = Scheduler(firstLease: LeaseID(before.number + 500))
        for (_, spec) in scenario.jobs where ledger.states[spec.id] != nil {
            handle(.jobSubmitted(spec, progress: durableProgress(of: spec.id)))
        }
        for index in processes.indices {
            processes[index].isConnected = false
            guard processes[index].isAlive, partitions[processes[index].node] == nil else { continue }
            plan(
                .connect(process: index, version: processes[index].version, epoch: epoch), in: random.within(0.1...5))
        }
    }

    private func durableProgress(of id: JobID) -> JobProgress {
        var progress = JobProgress(state: ledger.states[id] ?? .waiting)
        for (place, result) in ledger.accepted where place.job == id { progress.finished[place.segment] = result.hash }
        for (place, failure) in ledger.failed where place.job == id { progress.failed[place.segment] = failure }
        progress.openLeases = ledger.open.filter { $0.value.job == id }.sorted { $0.key < $1.key }.map {
            JobProgress.OpenLease(lease: $0.key, worker: $0.value.worker, segment: $0.value.segment)
        }
        return progress
    }

    private func operate() {
        let spec = scenario.jobs[random.below(scenario.jobs.count)].spec
        let node = scenario.nodes[random.below(scenario.nodes.count)].name
        switch random.below(3) {
        case 0:
            handle(.jobPaused(spec.id))
            plan(.deliver(.jobResumed(spec.id), epoch: epoch, from: nil), in: 5)
        case 1:
            handle(.nodeDrained(node, true))
            plan(.deliver(.nodeDrained(node, false), epoch: epoch, from: nil), in: 10)
        default:
            handle(.nodeReleased(node))
        }
    }
}
