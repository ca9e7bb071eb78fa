/// Decides which slot works on which segment: (state, event, now) → actions. No clock, no I/O, no randomness; the same
/// events at the same instants give the same actions, in production and in the simulator.
///
/// An event costs O(log n) in the number of slots and segments. Events that concern a whole job or node (submit, cancel,
/// retry, drain) look at each of its parts.
package struct Scheduler: Sendable {
    package let configuration: Configuration
    /// The number that the next grant takes.
    package internal(set) var nextLease: LeaseID

    var jobs: [Job] = []
    var jobPlaces: [JobID: Int] = [:]
    var nodes: [Node] = []
    var nodePlaces: [String: Int] = [:]
    var slots: [Slot] = []
    var slotPlaces: [SlotName: Int] = [:]
    var leases: [LeaseID: Lease] = [:]
    var awayLeases: [LeaseID: AwayLease] = [:]
    /// Away since before the restart, by the slot that may bring them back.
    var awaited: [SlotName: [LeaseID]] = [:]
    var encoderPlaces: [String: Int] = [:]
    /// By encoder.
    var pools: [Pool] = []
    var speeds = SpeedTable()
    var timers = OrderedSet<Timer>()

    var now = Instant.zero
    var actions: [Action] = []

    struct SlotName: Hashable {
        let node: Int
        let slot: Int
    }

    /// What meets at one encoder.
    struct Pool: Sendable {
        let encoder: String
        /// Jobs with pending segments that may be leased now.
        var runnable = OrderedSet<JobKey>()
        /// Jobs without pending segments that may lease a running one a second time.
        var racing = OrderedSet<JobKey>()
        /// Nodes with an idle slot that may take a lease.
        var idle = OrderedSet<IdleKey>()
        /// Nodes that may take a lease now or later.
        var able = OrderedSet<Int>()
        /// Connected slots that offer the encoder.
        var slots = 0
    }

    /// - Parameter firstLease: higher than every lease granted before a restart (`JobStore.reserveLeases`).
    package init(configuration: Configuration = Configuration(), firstLease: LeaseID = LeaseID(1)) {
        self.configuration = configuration
        self.nextLease = firstLease
    }

    /// When `tick` is due; `nil` when nothing waits for time to pass.
    package var nextDeadline: Instant? { timers.first?.at }

    /// - Parameter now: time that goes back is taken for the latest time seen.
    package mutating func handle(_ event: Event, now: Instant) -> [Action] {
        self.now = max(self.now, now)
        switch event {
        case .jobSubmitted(let spec, let progress): submit(spec, progress)
        case .jobPaused(let id): pause(id)
        case .jobResumed(let id): resume(id)
        case .jobCancelled(let id): cancel(id)
        case .jobRetried(let id, let request): retry(id, request)
        case .jobRemoved(let id): removeJob(id)
        case .nodeBarred(let id, let node, let failure): bar(id, node, failure)
        case .workerJoined(let worker, let capabilities, let holding, let predecessor):
            join(worker, capabilities, holding, predecessor)
        case .workerLost(let worker, let failure): lose(worker, failure)
        case .workerReady(let worker): ready(worker)
        case .leaseProgressed(let lease, let worker, let frames, let work): progress(lease, worker, frames, work)
        case .resultReceived(let lease, let worker, let hash, let frames): receive(lease, worker, hash, frames)
        case .resultStored(let lease): stored(lease)
        case .resultRejected(let lease, let failure): rejected(lease, failure)
        case .storeFailed(let lease, let failure): storeFailed(lease, failure)
        case .leaseFailed(let lease, let worker, let failure): failed(lease, worker, failure)
        case .resultDisproved(let id, let segment, let node, let failure, let isCertain):
            disprove(id, segment, node, failure, isCertain: isCertain)
        case .nodeDrained(let node, let drains): drain(node, drains)
        case .nodeReleased(let node): release(node)
        case .tick: tick()
        }
        let result = actions
        actions = []
        return result
    }

    mutating func ignore(_ what: String) { actions.append(.record(.ignored(what))) }

    mutating func encoderPlace(_ name: String) -> Int {
        if let place = encoderPlaces[name] { return place }
        encoderPlaces[name] = pools.count
        pools.append(Pool(encoder: name))
        return pools.count - 1
    }

    mutating func nodePlace(_ name: String) -> Int {
        if let place = nodePlaces[name] { return place }
        nodePlaces[name] = nodes.count
        nodes.append(Node(name: name))
        return nodes.count - 1
    }
}
