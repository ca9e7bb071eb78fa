internal import ClusterProtocol
internal import JobStore
internal import Scheduling

/// The job store, confined to the storage thread once the job runs.
final class StoreBox: @unchecked Sendable {
    private let store: JobStore

    init(_ store: JobStore) { self.store = store }

    /// All or none of them, in one commit.
    func accept(_ segments: [(segment: AcceptedSegment, job: JobID)]) throws(Failure) {
        do throws(JobStoreError) {
            try store.transaction { () throws(JobStoreError) in
                for (segment, job) in segments { try store.acceptSegment(segment, of: job, at: Clock.wall) }
            }
        } catch {
            throw error.failureOfExport
        }
    }
}
