import ClusterProtocol
import Scheduling

/// What must never happen, whatever the scheduler and the cluster do. It knows only events and actions, and outlives a
/// restart of the coordinator as the job store does.
struct Ledger {
    struct Open {
        var job: JobID
        var segment: Int
        var worker: WorkerID
    }

    private(set) var violations: [String] = []
    /// Durable facts.
    private(set) var accepted: [Scenario.Place: (lease: LeaseID, hash: String)] = [:]
    private(set) var failed: [Scenario.Place: Failure] = [:]
    private(set) var states: [JobID: JobState] = [:]
    private(set) var open: [LeaseID: Open] = [:]
    private(set) var leasesByNode: [String: Int] = [:]
    private(set) var leases = 0
    private(set) var speculative = 0
    private(set) var differing: Set<Scenario.Place> = []
    /// How often each kind of thing happened, to know that the faults reach the scheduler.
    private(set) var seen: [String: Int] = [:]
    private var lastLease: UInt64 = 0
    private var busy: [WorkerID: LeaseID] = [:]
    private var acceptedLeases: Set<LeaseID> = []

    private mutating func tally(_ action: Action) {
        switch action {
        case .grant(let grant) where grant.isSpeculative: seen["speculation", default: 0] += 1
        case .revoke(_, _, let reason): seen["revoked: \(reason)", default: 0] += 1
        case .discard(_, let reason): seen["discarded: \(reason)", default: 0] += 1
        case .nondeterminism: seen["nondeterminism", default: 0] += 1
        case .quarantine: seen["quarantine", default: 0] += 1
        case .record(.reattached): seen["reattached", default: 0] += 1
        case .record(.jobHeld): seen["held", default: 0] += 1
        case .record(.leaseEnded(_, _, _, _, _, let failure?)): seen["failed: \(failure.boundary)", default: 0] += 1
        default: break
        }
    }

    mutating func note(_ action: Action) {
        tally(action)
        switch action {
        case .grant(let grant): note(grant)
        case .segmentFailed(let job, let segment, let failure):
            let place = Scenario.Place(job: job, segment: segment)
            expect(accepted[place] == nil, "\(place) failed after its result was accepted")
            failed[place] = failure
        case .jobChanged(let job, let state): states[job] = state
        case .nondeterminism(let job, let segment, _, _): differing.insert(.init(job: job, segment: segment))
        case .record(.leaseEnded(let lease, let worker, _, _, _, _)):
            open[lease] = nil
            if busy[worker] == lease { busy[worker] = nil }
        case .record(.reattached(let lease, let worker, let job, let segment)):
            open[lease] = Open(job: job, segment: segment, worker: worker)
            busy[worker] = lease
        case .store(let lease, _, _):
            if let worker = open[lease]?.worker, busy[worker] == lease { busy[worker] = nil }
        case .revoke, .discard, .segmentFinished, .quarantine, .record: break
        }
    }

    private mutating func note(_ grant: Grant) {
        let place = Scenario.Place(job: grant.job, segment: grant.segment)
        let previous = lastLease
        expect(grant.lease.number > previous, "\(grant.lease) is not above \(previous)")
        lastLease = grant.lease.number
        expect(accepted[place] == nil, "\(grant.lease) was granted for \(place), which is done")
        expect(failed[place] == nil, "\(grant.lease) was granted for \(place), which failed")
        expect(busy[grant.worker] == nil, "\(grant.worker) got \(grant.lease) on top of another")
        let state = states[grant.job] ?? .waiting
        expect(state == .running, "\(grant.lease) was granted for a job that is \(state)")
        busy[grant.worker] = grant.lease
        open[grant.lease] = Open(job: grant.job, segment: grant.segment, worker: grant.worker)
        leasesByNode[grant.worker.node, default: 0] += 1
        leases += 1
        if grant.isSpeculative { speculative += 1 }
    }

    mutating func submitted(_ job: JobID) { states[job] = states[job] ?? .waiting }

    /// A result became durable.
    mutating func accept(_ lease: LeaseID, _ place: Scenario.Place, hash: String) {
        let isNew = acceptedLeases.insert(lease).inserted
        expect(isNew, "\(lease) was accepted twice")
        expect(accepted[place] == nil, "\(place) has two accepted results")
        accepted[place] = (lease, hash)
    }

    /// The operator asks for the failed segments to be run again.
    mutating func retried(_ job: JobID) {
        for place in failed.keys.filter({ $0.job == job }) { failed[place] = nil }
    }

    mutating func coordinatorDied() { busy = [:] }

    mutating func workerGone(_ worker: WorkerID) { busy[worker] = nil }

    mutating func expect(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds, violations.count < 20 { violations.append(message()) }
    }

    /// Compares everything that the scheduler says of a job with the facts.
    mutating func audit(_ scheduler: Scheduler, _ job: JobSpec) {
        guard let status = scheduler.jobStatus(job.id) else { return }
        var counts = JobStatus.Counts()
        for segment in scheduler.segmentStatus(job.id) {
            let place = Scenario.Place(job: job.id, segment: segment.index)
            switch segment.state {
            case .pending: counts.pending += 1
            case .running: counts.running += 1
            case .storing: counts.storing += 1
            case .finished: counts.finished += 1
            case .failed: counts.failed += 1
            }
            expect(
                (segment.state == .finished) == (accepted[place] != nil),
                "\(place) is \(segment.state) against the facts")
            let working = segment.attempts.count { $0.state == .running || $0.state == .storing }
            expect(working <= 4, "\(place) has \(working) attempts at once")
            let slots = Set(
                segment.attempts.filter { $0.state == .running }.map { "\($0.worker.node)/\($0.worker.slot)" })
            let running = segment.attempts.count { $0.state == .running }
            expect(slots.count == running, "\(place) runs twice on one slot")
        }
        expect(counts == status.counts, "counts of \(job.id) are \(status.counts), not \(counts)")
        expect(counts.total == job.segments.count, "segments of \(job.id) got lost")
    }
}
