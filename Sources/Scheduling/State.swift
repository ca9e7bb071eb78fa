internal import ClusterProtocol

/// A job at work. Jobs, nodes, slots and encoders are named by their place in the scheduler's arrays, so that an event
/// costs no string comparison beyond the first look-up.
struct Job: Sendable {
    let spec: JobSpec
    let encoder: Int
    /// Encoder and frame size, the unit that speeds are learned for.
    let speedClass: Int
    var state: JobState
    var segments: [SegmentRun]
    /// In order of presentation.
    var pending = OrderedSet<Int>()
    /// The same segments by weight, once there are so few that the order of ends matters more than that of beginnings.
    var tail: OrderedSet<WeightKey>?
    var pendingWeight = 0.0
    /// Running leases whose segment has no other, by predicted end.
    var races = OrderedSet<FinishKey>()
    /// Running leases.
    var active = 0
    /// Σ speed and Σ speed × predicted end (seconds) of running leases with a known speed: with the pending weight they
    /// give the end of the whole job as if work were a fluid, in constant time.
    var busySpeed = 0.0
    var busySpeedEnds = 0.0
    var counts = JobStatus.Counts()
    var leases = 0
    var speculativeLeases = 0
    var nondeterministic: [Int] = []
    var barredNodes: Set<Int> = []
    var lastFailure: Failure?
    var heldUntil: Instant?
    var holds = 0
    var declineUntil: Instant?
    /// Its places in `Scheduler.runnable` and `Scheduler.racing`.
    var runnableKey: JobKey?
    var racingKey: JobKey?
    var isRemoved = false
}

struct SegmentRun: Sendable {
    let weight: Double
    let frames: Int
    var state = SegmentState.pending
    /// Running and storing.
    var leases: [LeaseID] = []
    /// Leases whose slot is away and may come back with them.
    var awayLeases: [LeaseID] = []
    /// Pending, but left alone until the slots of before the restart have had time to come back.
    var awaitsReattach = false
    var attempts: [Attempt] = []
    var failedNodes: [Int] = []
    var tries = Tries()
    var onlyNode: Int?
    var outcome: Outcome?
    var failure: Failure?

    struct Tries: Sendable {
        var retries = 0
        var elsewhere = 0
        var deaths = 0
        var crashes = 0
        var disconnects = 0
        var gaveUp = false
    }
}

struct Lease: Sendable {
    enum State: Sendable { case running, storing, superseded }

    let id: LeaseID
    let job: Int
    let segment: Int
    let slot: Int
    let node: Int
    let worker: WorkerID
    let isSpeculative: Bool
    let granted: Instant
    /// Assumed weight a second; `nil` while nothing is known.
    let speed: Double?
    var state = State.running
    var frames = 0
    /// Bytes of the source that were read: a slot that decodes ahead of its segment has no frame to show yet.
    var work: Int64 = 0
    var lastProgress: Instant
    var predictedEnd: Instant?
    var stallTimer: Instant?
    var overdueTimer: Instant?
    var hash = ""
}

/// A lease whose slot is gone, and may come back with it.
struct AwayLease: Sendable {
    let job: Int
    let segment: Int
    let worker: WorkerID
    let isSpeculative: Bool
    let granted: Instant
    /// It was charged to the segment as a lost connection.
    let wasCharged: Bool
}

struct Slot: Sendable {
    let node: Int
    var worker: WorkerID
    var isConnected = false
    var isReady = false
    /// What it is thought to work on, superseded leases included.
    var lease: LeaseID?
    var finished = 0
    var failures = 0
    var frames = 0
    var lastJob: Int?
    var lastFailure: Failure?
}

struct Node: Sendable {
    let name: String
    var slots: [Int] = []
    var connected = 0
    var idle: [Int] = []
    var encoders: [NodeEncoder] = []
    var isDraining = false
    /// Learned weight a second of one slot, by speed class.
    var speeds: [Int: Double] = [:]
    var relativeSpeed = 1.0

    func place(of encoder: Int) -> Int? { encoders.firstIndex { $0.encoder == encoder } }
}

/// What a node can do with one encoder.
struct NodeEncoder: Sendable {
    let encoder: Int
    /// Some connected slot offers it.
    var isOffered = true
    /// Running leases.
    var active = 0
    var strikes = 0
    /// Quarantines without full recovery between.
    var rounds = 0
    /// Results that were found to be wrong.
    var convictions = 0
    var quarantinedAt: Instant?
    var until: Instant?
    /// Successes still to be shown, one lease at a time.
    var probation = 0
    var cause: Failure?
    var lastStrike: Instant?
    var idleKey: IdleKey?
    var isAble = false

    var mayTakeLease: Bool { isOffered && until == nil && (probation == 0 || active == 0) }
}
