internal import ClusterProtocol
internal import JobStore
internal import Media
internal import MediaTime
internal import Scheduling

/// A job of the cluster as the endpoint's thread knows it, from its submission on.
struct ServiceJob {
    enum Phase: Hashable {
        /// Not begun: others are first.
        case queued
        case planning
        /// In the scheduler's hands.
        case running
        /// All segments are there.
        case stitching
        case over(JobState)
    }

    let id: JobID
    let destination: String
    let priority: Int
    /// Milliseconds since 1970.
    let created: Int64
    var order: StoredOrder
    var plan: StoredPlan?
    var phase = Phase.queued
    var isPaused = false
    var isCancelled = false
    var failure: Failure?
    /// The account that was made when it ended.
    var report: JobReport?
    var spoolBytes: Int64 = 0
    /// It was told that its segments are not looked at.
    var isUnchecked = false
    /// Stops the job's thread while there is one.
    var interrupt: InterruptFlag?
    /// Monotonic nanoseconds.
    var began: UInt64?
    /// Milliseconds since 1970 when it was over.
    var ended: Int64?

    init(id: JobID, destination: String, priority: Int, created: Int64, order: StoredOrder) {
        self.id = id
        self.destination = destination
        self.priority = priority
        self.created = created
        self.order = order
    }

    /// A job of before the coordinator's last start. What was at work begins again, from what is stored.
    init(_ record: JobRecord) throws(JobStoreError) {
        self.init(
            id: record.id, destination: record.destination, priority: record.priority, created: record.created,
            order: try record.settings.decoded(as: StoredOrder.self))
        plan = try? record.plan.decoded(as: StoredPlan.self)
        failure = record.failure
        isPaused = record.state == .paused
        if record.state.isOver {
            phase = .over(record.state)
            ended = record.updated
            report = try record.report?.decoded(as: JobReport.self)
        }
    }

    /// A picture that is copied as it is goes through no slot and no spool.
    var hasSpool: Bool { order.settings.videoCodec != .copy && order.settings.encoder != "copy" }

    var isOver: Bool {
        if case .over = phase { true } else { false }
    }

    var state: JobReport.State {
        switch phase {
        case .queued: isPaused ? .paused : .queued
        case .planning: .planning
        case .running: isPaused ? .paused : .running
        case .stitching: .stitching
        case .over(.finished): .done
        case .over(.cancelled): .cancelled
        case .over: .failed
        }
    }
}
