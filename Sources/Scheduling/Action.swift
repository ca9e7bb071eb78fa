package import ClusterProtocol

/// What the owner of the scheduler has to do, in this order.
package enum Action: Hashable, Sendable {
    case grant(Grant)
    /// The lease counts no longer: the slot is to stop (and is killed if it hangs). Not sent to a slot that is gone.
    case revoke(LeaseID, WorkerID, RevokeReason)
    /// Check and store the result, then say `resultStored`, `resultRejected` or `storeFailed`.
    case store(LeaseID, job: JobID, segment: Int)
    /// The result of this lease is not wanted.
    case discard(LeaseID, DiscardReason)
    /// Two slots gave different bytes for one segment; the first was kept.
    case nondeterminism(JobID, segment: Int, kept: Outcome, other: Outcome)
    case segmentFinished(JobID, segment: Int, LeaseID)
    case segmentFailed(JobID, segment: Int, Failure)
    case jobChanged(JobID, JobState)
    /// The node gets no lease for this encoder until then (`Instant.never`: until it is released).
    case quarantine(node: String, encoder: String, until: Instant, because: Failure)
    /// For the log and the user; nothing has to be done.
    case record(Occurrence)
}

package struct Grant: Hashable, Sendable, Codable {
    package var lease: LeaseID
    package var worker: WorkerID
    package var job: JobID
    package var segment: Int
    /// Another slot works on the same segment.
    package var isSpeculative: Bool

    package init(lease: LeaseID, worker: WorkerID, job: JobID, segment: Int, isSpeculative: Bool) {
        self.lease = lease
        self.worker = worker
        self.job = job
        self.segment = segment
        self.isSpeculative = isSpeculative
    }
}

/// One slot's result, as far as comparing goes.
package struct Outcome: Hashable, Sendable, Codable {
    package var lease: LeaseID
    package var worker: WorkerID
    package var hash: String

    package init(lease: LeaseID, worker: WorkerID, hash: String) {
        self.lease = lease
        self.worker = worker
        self.hash = hash
    }
}

package enum RevokeReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// Another slot's result came first.
    case superseded
    /// No new frame within the job's stall limit.
    case stalled
    case jobCancelled
    /// The job was told to run this segment anew.
    case retried
    /// The slot holds a lease that the scheduler does not know or that ended while it was away.
    case stale
    case nodeBarred
}

package enum DiscardReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The lease ended before.
    case stale
    /// The lease belongs to another slot.
    case notTheHolder
    /// This lease's result is here already.
    case duplicate
    /// Another slot's result is here already.
    case superseded
}

/// A thing worth telling in the event log.
package enum Occurrence: Hashable, Sendable, Codable {
    case leaseEnded(LeaseID, WorkerID, JobID, segment: Int, AttemptState, Failure?)
    case reattached(LeaseID, WorkerID, JobID, segment: Int)
    case workerJoined(WorkerID)
    case workerLost(WorkerID, Failure)
    case nodeReleased(String)
    case nodeDrained(String, Bool)
    case nodeBarred(JobID, node: String, Failure)
    case jobHeld(JobID, until: Instant, Failure)
    /// An event that named something unknown or out of date, in words.
    case ignored(String)
}
