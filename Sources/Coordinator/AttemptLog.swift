internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Scheduling

/// What an event of the log says, as the store keeps it.
struct EventDetail: Codable, Sendable {
    var segment: Int?
    var node: String?
    var slot: Int?
    var text: String
}

/// Collects what happens to leases, segments and workers, and writes it to the store in batches: one fsync for many grants.
///
/// Lives on the endpoint's thread.
final class AttemptLog {
    private struct End: Sendable {
        var lease: Fence
        var state: AttemptState
        var failure: Failure?
        var frames: Int
        var time: Int64
    }

    private struct Event: Sendable {
        var kind: String
        var job: JobID?
        var detail: EventDetail
        var time: Int64
    }

    private struct SegmentFailure: Sendable {
        var job: JobID
        var segment: Int
        var failure: Failure
    }

    private var grants: [LeaseRecord] = []
    private var ends: [End] = []
    private var failures: [SegmentFailure] = []
    private var events: [Event] = []
    private let store: StoreBox
    private let storage: SerialThread
    private let link: CoordinatorLink
    private var isWriting = false
    /// Told the lines for a job's report.
    var tell: ((JobID, String) -> Void)?

    init(store: StoreBox, storage: SerialThread, link: CoordinatorLink) {
        self.store = store
        self.storage = storage
        self.link = link
    }

    func grant(_ grant: Grant) {
        grants.append(
            LeaseRecord(
                lease: grant.lease, job: grant.job, segment: grant.segment, worker: grant.worker, granted: Clock.wall))
        let words = grant.isSpeculative ? "a second slot tries it too" : "leased"
        note("leased", job: grant.job, segment: grant.segment, worker: grant.worker, words)
        // Only a grant that is stored can be taken up again after a crash: not later than the disk allows.
        if !isWriting { flush() }
    }

    func end(_ lease: Fence, _ state: AttemptState, _ failure: Failure?, frames: Int) {
        ends.append(End(lease: lease, state: state, failure: failure, frames: frames, time: Clock.wall))
    }

    func fail(_ job: JobID, _ segment: Int, _ failure: Failure) {
        failures.append(SegmentFailure(job: job, segment: segment, failure: failure))
    }

    func note(
        _ kind: String, job: JobID? = nil, segment: Int? = nil, worker: WorkerID? = nil, node: String? = nil,
        _ text: String
    ) {
        let detail = EventDetail(segment: segment, node: worker?.node ?? node, slot: worker?.slot, text: text)
        events.append(Event(kind: kind, job: job, detail: detail, time: Clock.wall))
        if let job, let line = JobAccount.line(kind, detail) { tell?(job, line) }
    }

    var isEmpty: Bool { grants.isEmpty && ends.isEmpty && failures.isEmpty && events.isEmpty }

    private func written() {
        isWriting = false
        if !grants.isEmpty { flush() }
    }

    /// Hands everything to the storage thread, before whatever is asked of that thread next.
    func flush() {
        guard !isEmpty else { return }
        let (grants, ends, failures, events) = (grants, ends, failures, events)
        self.grants = []
        self.ends = []
        self.failures = []
        self.events = []
        let (store, link) = (store, link)
        let log = LogReference(self)
        isWriting = true
        storage.perform {
            defer { link.perform { _ in log.value?.written() } }
            do throws(Failure) {
                try store.use { (store) throws(JobStoreError) in
                    try store.transaction { () throws(JobStoreError) in
                        try store.recordLeases(grants)
                        for end in ends {
                            try store.endLease(
                                end.lease, as: end.state, failure: end.failure, frames: end.frames, at: end.time)
                        }
                        for failure in failures {
                            try store.failSegment(failure.segment, of: failure.job, failure.failure)
                        }
                        for event in events {
                            try store.appendEvent(
                                event.kind, job: event.job, detail: try JSONText(event.detail), at: event.time)
                        }
                    }
                }
            } catch {
                // The log is for people; what is accepted is stored elsewhere. A full disk must not stop the work.
                FileHandle.standardError.write(Data("weft: the event log was not written: \(error.message)\n".utf8))
            }
        }
    }
}

/// The log in closures that run on the endpoint's thread only, where it lives.
private final class LogReference: @unchecked Sendable {
    private(set) weak var value: AttemptLog?

    init(_ value: AttemptLog) { self.value = value }
}
