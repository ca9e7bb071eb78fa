internal import ClusterProtocol
internal import JobStore
internal import Scheduling

/// The job store, confined to the storage thread once the job runs.
final class StoreBox: @unchecked Sendable {
    private let store: JobStore

    init(_ store: JobStore) { self.store = store }

    func accept(_ segment: AcceptedSegment, of job: JobID) throws(Failure) {
        do {
            try store.acceptSegment(segment, of: job, at: Clock.wall)
        } catch {
            throw error.failure
        }
    }
}
