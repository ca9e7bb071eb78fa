internal import ClusterProtocol

/// Decides which slot works on which segment: (state, event, now) → actions. No clock, no I/O, no randomness; the same
/// events at the same instants give the same actions, in production and in the simulator.
package struct Scheduler: Sendable {
    package let configuration: Configuration

    /// - Parameter firstLease: higher than every lease granted before a restart (`JobStore.reserveLeases`).
    package init(configuration: Configuration = Configuration(), firstLease: LeaseID = LeaseID(1)) {
        self.configuration = configuration
        self.nextLease = firstLease
    }

    /// The number that the next grant takes.
    package private(set) var nextLease: LeaseID

    /// When `tick` is due; `nil` when nothing waits for time to pass.
    package var nextDeadline: Instant? { nil }

    package mutating func handle(_ event: Event, now: Instant) -> [Action] { [] }

    package func jobStatus(_ id: JobID) -> JobStatus? { nil }
    package func segmentStatus(_ id: JobID) -> [SegmentStatus] { [] }
    package func workerStatus() -> [WorkerStatus] { [] }
    package func nodeStatus() -> [NodeStatus] { [] }
    package func jobs() -> [JobID] { [] }
}
