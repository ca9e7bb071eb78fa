/// Orders jobs: higher priority, then fewer slots at work (fair share), then first come.
struct JobKey: Comparable, Sendable {
    var priority: Int
    var active: Int
    var job: Int

    static func < (a: JobKey, b: JobKey) -> Bool {
        if a.priority != b.priority { return a.priority > b.priority }
        return a.active != b.active ? a.active < b.active : a.job < b.job
    }
}

/// Orders pending segments of the tail: light ones first.
struct WeightKey: Comparable, Sendable {
    var weight: Double
    var segment: Int

    static func < (a: WeightKey, b: WeightKey) -> Bool {
        a.weight != b.weight ? a.weight < b.weight : a.segment > b.segment
    }
}

/// Orders running leases by when they are predicted to end.
struct FinishKey: Comparable, Sendable {
    var at: Instant
    var lease: LeaseID

    static func < (a: FinishKey, b: FinishKey) -> Bool { a.at != b.at ? a.at < b.at : a.lease < b.lease }
}

/// Orders idle nodes: fast ones first.
struct IdleKey: Comparable, Sendable {
    /// Speed against the mean of what the node worked on last.
    var speed: Double
    var node: Int

    static func < (a: IdleKey, b: IdleKey) -> Bool { a.speed != b.speed ? a.speed > b.speed : a.node < b.node }
}

/// A moment at which something has to be looked at again.
struct Timer: Comparable, Sendable {
    enum Kind: Int, Sendable {
        /// Has the lease made a frame within the stall limit?
        case stall
        /// The lease should have ended by now: predict anew.
        case overdue
        case quarantineEnd
        /// The slots that held the job's leases before the restart have had their time to come back.
        case reattachEnd
        case holdEnd
        /// Slow slots have left the tail to fast ones long enough.
        case declineEnd
    }

    var at: Instant
    var kind: Kind
    /// A lease's number, else a job's or node's place.
    var subject: UInt64
    var detail = 0

    static func < (a: Timer, b: Timer) -> Bool {
        if a.at != b.at { return a.at < b.at }
        if a.kind != b.kind { return a.kind.rawValue < b.kind.rawValue }
        return a.subject != b.subject ? a.subject < b.subject : a.detail < b.detail
    }
}
