internal import ClusterProtocol

extension Scheduler {
    mutating func join(
        _ worker: WorkerID, _ capabilities: Capabilities, _ holding: LeaseID?, _ predecessor: Failure
    ) {
        let n = nodePlace(worker.node)
        let s = slotPlace(n, worker)
        guard worker.incarnation >= slots[s].worker.incarnation else {
            return ignore("\(worker) is older than \(slots[s].worker)")
        }
        if worker.incarnation > slots[s].worker.incarnation {
            disconnect(s, predecessor)
            slots[s].worker = worker
        }
        offer(n, capabilities)
        if !slots[s].isConnected {
            connect(s)
            actions.append(.record(.workerJoined(worker)))
        }
        if slots[s].isReady { takeFromIdle(s) }
        slots[s].isReady = false
        resumeHeld(s, holding)
    }

    private mutating func slotPlace(_ n: Int, _ worker: WorkerID) -> Int {
        let name = SlotName(node: n, slot: worker.slot)
        if let place = slotPlaces[name] { return place }
        let place = slots.count
        slotPlaces[name] = place
        slots.append(Slot(node: n, worker: worker))
        nodes[n].slots.append(place)
        return place
    }

    /// Brings what the slot says it works on and what it is thought to work on together.
    private mutating func resumeHeld(_ s: Int, _ holding: LeaseID?) {
        let worker = slots[s].worker
        releaseAwaited(of: SlotName(node: slots[s].node, slot: worker.slot), except: holding)
        if let known = slots[s].lease, known != holding {
            let message = "The lease did not reach the slot, or its end did not reach the coordinator."
            loseLease(s, Failure(.transport, message, retry: .retry, fault: .environment))
        }
        guard let holding, slots[s].lease == nil else { return }
        if let away = awayLeases[holding], away.worker == worker, reattach(s, holding, away) { return }
        actions.append(.revoke(holding, worker, .stale))
    }

    private mutating func reattach(_ s: Int, _ id: LeaseID, _ away: AwayLease) -> Bool {
        let (j, segment) = (away.job, away.segment)
        awayLeases[id] = nil
        jobs[j].segments[segment].awayLeases.removeAll { $0 == id }
        let state = jobs[j].segments[segment].state
        guard !jobs[j].state.isOver, state == .pending || state == .running else { return false }
        if away.wasCharged { jobs[j].segments[segment].tries.disconnects -= 1 }
        jobs[j].segments[segment].awaitsReattach = false
        beginLease(id, j, segment, s, isSpeculative: away.isSpeculative, granted: away.granted)
        actions.append(.record(.reattached(id, slots[s].worker, jobs[j].spec.id, segment: segment)))
        return true
    }

    mutating func lose(_ worker: WorkerID, _ failure: Failure) {
        guard let s = currentSlot(worker), slots[s].isConnected else {
            return ignore("\(worker) was lost but was not there")
        }
        disconnect(s, failure)
    }

    mutating func ready(_ worker: WorkerID) {
        guard let s = currentSlot(worker), slots[s].isConnected, !slots[s].isReady else { return }
        if let id = slots[s].lease {
            // "Ready" from before a grant may be repeated after it; a lost grant is found by its stall limit.
            guard leases[id]?.state != .running else { return }
            dropSuperseded(s)
        }
        slots[s].isReady = true
        offerSlot(s)
    }

    func currentSlot(_ worker: WorkerID) -> Int? {
        guard let n = nodePlaces[worker.node], let s = slotPlaces[SlotName(node: n, slot: worker.slot)],
            slots[s].worker == worker
        else { return nil }
        return s
    }

    /// The slot is known to have left its superseded lease behind.
    mutating func dropSuperseded(_ s: Int) {
        guard let id = slots[s].lease else { return }
        if leases[id]?.state == .superseded { leases[id] = nil }
        slots[s].lease = nil
    }

    private mutating func connect(_ s: Int) {
        let n = slots[s].node
        slots[s].isConnected = true
        nodes[n].connected += 1
        for place in nodes[n].encoders.indices where nodes[n].encoders[place].isOffered {
            pools[nodes[n].encoders[place].encoder].slots += 1
        }
        refreshNode(n)
    }

    private mutating func disconnect(_ s: Int, _ failure: Failure) {
        guard slots[s].isConnected else { return slotEnded(s) }
        let n = slots[s].node
        if slots[s].isReady { takeFromIdle(s) }
        slots[s].isReady = false
        slots[s].isConnected = false
        nodes[n].connected -= 1
        for place in nodes[n].encoders.indices where nodes[n].encoders[place].isOffered {
            pools[nodes[n].encoders[place].encoder].slots -= 1
        }
        actions.append(.record(.workerLost(slots[s].worker, failure)))
        let ableBefore = nodes[n].encoders.map(\.isAble)
        refreshNode(n)
        loseLease(s, failure)
        for (place, wasAble) in ableBefore.enumerated() where wasAble && !nodes[n].encoders[place].isAble {
            ableNodesChanged(nodes[n].encoders[place].encoder)
        }
    }

    /// A newer process took the place of one that was away: nothing comes back from that.
    private mutating func slotEnded(_ s: Int) { slots[s].lease = nil }

    /// The node's offer is that of the slot that joined last: slots of one machine differ only while it is upgraded.
    private mutating func offer(_ n: Int, _ capabilities: Capabilities) {
        let offered = Set(capabilities.encoders.sorted().map { encoderPlace($0) })
        for place in nodes[n].encoders.indices {
            let encoder = nodes[n].encoders[place].encoder
            let (was, isNow) = (nodes[n].encoders[place].isOffered, offered.contains(encoder))
            guard was != isNow else { continue }
            nodes[n].encoders[place].isOffered = isNow
            pools[encoder].slots += isNow ? nodes[n].connected : -nodes[n].connected
        }
        let known = Set(nodes[n].encoders.map(\.encoder))
        for encoder in offered.subtracting(known).sorted() {
            nodes[n].encoders.append(NodeEncoder(encoder: encoder))
            pools[encoder].slots += nodes[n].connected
        }
        refreshNode(n)
    }

    mutating func drain(_ name: String, _ drains: Bool) {
        let n = nodePlace(name)
        guard nodes[n].isDraining != drains else { return }
        nodes[n].isDraining = drains
        actions.append(.record(.nodeDrained(name, drains)))
        refreshNode(n)
        for encoder in nodes[n].encoders.map(\.encoder) { ableNodesChanged(encoder) }
        if !drains { offerSlots(of: n) }
    }

    /// There are fewer nodes for an encoder, or fewer that will ever take a lease: a segment that only they had not failed
    /// may go back to one that had, and a job may have nobody left.
    mutating func ableNodesChanged(_ encoder: Int) {
        if !pools[encoder].runnable.isEmpty && !pools[encoder].idle.isEmpty { offerIdleSlots(encoder) }
    }
}

// MARK: - Idle slots

extension Scheduler {
    mutating func takeFromIdle(_ s: Int) {
        let n = slots[s].node
        nodes[n].idle.removeAll { $0 == s }
        refreshIdle(n)
    }

    /// Keeps the node's place among the able and the idle ones true.
    mutating func refreshNode(_ n: Int) {
        for place in nodes[n].encoders.indices {
            let encoder = nodes[n].encoders[place]
            let able =
                nodes[n].connected > 0 && encoder.isOffered && !nodes[n].isDraining && encoder.until != .never
            guard able != encoder.isAble else { continue }
            nodes[n].encoders[place].isAble = able
            if able { pools[encoder.encoder].able.insert(n) } else { pools[encoder.encoder].able.remove(n) }
        }
        refreshIdle(n)
    }

    mutating func refreshIdle(_ n: Int) {
        for place in nodes[n].encoders.indices {
            let encoder = nodes[n].encoders[place]
            let isIdle = !nodes[n].idle.isEmpty && !nodes[n].isDraining && encoder.mayTakeLease
            // The place in the order is taken when the node becomes idle, and holds until it is not.
            guard isIdle != (encoder.idleKey != nil) else { continue }
            if let key = encoder.idleKey {
                pools[encoder.encoder].idle.remove(key)
                nodes[n].encoders[place].idleKey = nil
            } else {
                let key = IdleKey(speed: nodes[n].relativeSpeed, node: n)
                pools[encoder.encoder].idle.insert(key)
                nodes[n].encoders[place].idleKey = key
            }
        }
    }
}
