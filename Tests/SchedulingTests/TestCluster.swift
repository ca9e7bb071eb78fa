import ClusterProtocol
import Scheduling

/// A scheduler with hands on it: names workers shortly and keeps what was granted.
struct TestCluster {
    var scheduler: Scheduler
    private(set) var now = Instant.zero
    /// The actions of the last event.
    private(set) var actions: [Action] = []
    private(set) var history: [Action] = []

    static let film = JobID("film")
    static let dead = Failure(.hardware, "The slot was killed.", retry: .elsewhere, fault: .worker)
    static let silent = Failure(.transport, "No sign of life.", retry: .elsewhere, fault: .environment)
    static let encoder = Failure(.encoder, "The encoder failed.", retry: .elsewhere, fault: .worker)
    static let again = Failure(.resources, "Out of memory.", retry: .retry, fault: .environment)
    static let bad = Failure(.decoder, "The data is invalid.", retry: .giveUp, fault: .source)
    static let full = Failure(.storage, "No space left.", retry: .retry, fault: .environment)

    init(configuration: Configuration = Configuration(), firstLease: UInt64 = 1) {
        self.scheduler = Scheduler(configuration: configuration, firstLease: LeaseID(firstLease))
    }

    @discardableResult
    mutating func handle(_ event: Event) -> [Action] {
        actions = scheduler.handle(event, now: now)
        history += actions
        return actions
    }

    /// Lets time pass, with every tick that falls due.
    mutating func wait(_ seconds: Double) {
        let end = now + Interval(seconds: seconds)
        var all: [Action] = []
        while let due = scheduler.nextDeadline, due <= end {
            now = max(now, due)
            all += handle(.tick)
        }
        now = end
        actions = all
    }

    mutating func submit(
        _ id: JobID = film, segments: Int, priority: Int = 0, encoder: String = "libx264", weight: Double = 10,
        progress: JobProgress? = nil, edit: (inout JobSpec) -> Void = { _ in }
    ) {
        var spec = JobSpec(
            id: id, priority: priority, encoder: encoder, size: FrameSize(width: 640, height: 360),
            segments: (0..<segments).map { _ in SegmentSpec(weight: weight, frames: 100) })
        edit(&spec)
        handle(.jobSubmitted(spec, progress: progress))
    }

    static func worker(_ node: String, _ slot: Int = 0, _ incarnation: UInt64 = 1) -> WorkerID {
        WorkerID(node: node, slot: slot, incarnation: incarnation)
    }

    mutating func join(
        _ worker: WorkerID, encoders: Set<String> = ["libx264"], holding: LeaseID? = nil
    ) {
        handle(
            .workerJoined(worker, Capabilities(encoders: encoders), holding: holding, predecessor: Self.dead))
    }

    /// Joins slots that are ready at once.
    mutating func add(_ node: String, slots: Int = 1, encoders: Set<String> = ["libx264"]) {
        for slot in 0..<slots {
            join(Self.worker(node, slot), encoders: encoders)
            handle(.workerReady(Self.worker(node, slot)))
        }
    }

    var grants: [Grant] {
        history.compactMap { if case .grant(let grant) = $0 { grant } else { nil } }
    }

    /// Grants of the last event.
    var newGrants: [Grant] {
        actions.compactMap { if case .grant(let grant) = $0 { grant } else { nil } }
    }

    /// The last grant that the node got.
    func lease(of node: String, slot: Int = 0) -> Grant? {
        grants.last { $0.worker.node == node && $0.worker.slot == slot }
    }

    mutating func receive(_ grant: Grant, hash: String? = nil) {
        handle(.resultReceived(grant.lease, grant.worker, hash: hash ?? "\(grant.segment)", frames: 100))
    }

    /// A whole success, after which the slot is ready again.
    mutating func finish(_ grant: Grant, after seconds: Double = 1) {
        wait(seconds)
        receive(grant)
        handle(.resultStored(grant.lease))
        handle(.workerReady(grant.worker))
    }

    mutating func fail(_ grant: Grant, _ failure: Failure, ready: Bool = true) {
        handle(.leaseFailed(grant.lease, grant.worker, failure))
        if ready { handle(.workerReady(grant.worker)) }
    }

    func state(_ id: JobID = film) -> JobState? { scheduler.jobStatus(id)?.state }

    func counts(_ id: JobID = film) -> JobStatus.Counts { scheduler.jobStatus(id)?.counts ?? JobStatus.Counts() }
}

extension TestCluster {
    func isRunning(_ grant: Grant) -> Bool {
        scheduler.workerStatus().contains { $0.lease == grant.lease }
    }
}
