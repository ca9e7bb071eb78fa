internal import ClusterProtocol
internal import Messaging
internal import Scheduling

/// What a service adds to the coordinator's core: clients, the durable record of attempts, what people see.
///
/// Lives on the endpoint's thread, like the handler that calls it.
protocol CoordinatorDesk: AnyObject {
    func begin()
    func end()
    func received(_ request: ClientRequest, from peer: PeerIdentity, role: PeerRole?)
    /// The scheduler asked for this; called before it is carried out.
    func noted(_ action: Action)
    /// The first slot of the job has shown what its encoder makes of the reference frames.
    func proved(_ job: JobID, fingerprint: String)
    /// The scheduler has no more to do for the job.
    func settled(_ job: JobID, _ state: JobState)
    /// The spool has lost the segment, which is made anew.
    func lost(_ job: JobID, segment: Int, _ failure: Failure)
    /// What a slot returned does not hold; the segment is made anew.
    func disproved(_ job: JobID, _ returned: ReturnedSegment, _ failure: Failure)
    /// Two nodes made the same bytes: what spoke against them speaks for the settings.
    func confirmed(_ job: JobID, _ returned: ReturnedSegment, like other: WorkerID)
    /// Another node's result is good, and other bytes than these.
    func outvoted(_ job: JobID, _ returned: ReturnedSegment, by other: WorkerID)
    /// It counts without having been looked at.
    func unchecked(_ job: JobID, _ returned: ReturnedSegment, _ reason: String)
    /// The job is known, and its leases will be.
    func isPlanning(_ job: JobID) -> Bool
    /// The slot that holds this lease has a new connection and goes on.
    func reconnected(_ grant: Grant)
    /// Results were not stored for so long, and are again.
    func storageMended(after seconds: Double)
    func peerLeft(_ peer: PeerIdentity)
    func tick()
}
