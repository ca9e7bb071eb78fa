package import ClusterProtocol

/// Everything that can happen to the scheduler. Events may repeat, come late and come out of order: what no longer
/// applies is answered with a discard or ignored, never trusted.
package enum Event: Hashable, Sendable {
    /// A new job, or with `progress` one that was found in the store after a restart. An id that is known is ignored.
    case jobSubmitted(JobSpec, progress: JobProgress?)
    /// No new leases; running ones finish.
    case jobPaused(JobID)
    case jobResumed(JobID)
    /// Ends its leases. A job that is over stays as it is.
    case jobCancelled(JobID)
    case jobRetried(JobID, RetryRequest)
    /// A job that is over is forgotten (with `jobCancelled` before it, any job).
    case jobRemoved(JobID)
    /// This node may not work for this job: it cannot read the source, or encodes differently.
    case nodeBarred(JobID, node: String, Failure)

    /// A slot connected. A higher incarnation ends the lease of the one before with `predecessor`; a lower one is ignored.
    /// `holding` is the lease the slot says it still works on (after it lost the coordinator or the coordinator
    /// restarted): it is taken up again if it still counts, else revoked.
    case workerJoined(WorkerID, Capabilities, holding: LeaseID?, predecessor: Failure)
    /// A slot is gone or silent. Boundary `.transport` says that only its connection is known to be broken.
    case workerLost(WorkerID, Failure)
    /// The slot can take a lease. Ignored while it holds one.
    case workerReady(WorkerID)

    /// Frames done so far under the lease.
    case leaseProgressed(LeaseID, WorkerID, frames: Int, work: Int64 = 0)
    /// The slot's whole answer is here, and is to be stored if it still counts.
    case resultReceived(LeaseID, WorkerID, hash: String, frames: Int)
    /// The result is durable.
    case resultStored(LeaseID)
    /// The bytes are not what the slot said: its fault.
    case resultRejected(LeaseID, Failure)
    /// The result could not be stored: nobody's fault among the slots. The job holds for a while.
    case storeFailed(LeaseID, Failure)
    case leaseFailed(LeaseID, WorkerID, Failure)
    /// What the node returned for a finished segment was looked at, and does not hold: the segment runs again, elsewhere if there
    /// is an elsewhere. Where that is certain, the node gets no more work for a while.
    case resultDisproved(JobID, segment: Int, node: String, Failure, isCertain: Bool)

    /// No new leases on the node; `false` takes it back.
    case nodeDrained(String, Bool)
    /// Ends the node's quarantines.
    case nodeReleased(String)
    /// Time passed: due no later than `Scheduler.nextDeadline`.
    case tick
}

package struct Capabilities: Hashable, Sendable, Codable {
    package var encoders: Set<String>

    package init(encoders: Set<String>) {
        self.encoders = encoders
    }
}

/// Which segments to run again. Their failures so far are forgiven.
package struct RetryRequest: Hashable, Sendable, Codable {
    /// `nil` for all that failed (also those that were not tried because the job gave up); finished ones can be named.
    package var segments: [Int]?
    /// Only this node may run them.
    package var node: String?

    package init(segments: [Int]? = nil, node: String? = nil) {
        self.segments = segments
        self.node = node
    }
}
