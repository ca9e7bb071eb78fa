package import ClusterProtocol

package enum AttemptState: String, Hashable, Sendable, Codable, CaseIterable {
    case running
    /// The result is here and is being stored.
    case storing
    case finished
    case failed
    /// Ended for no fault of its own: another was faster, or the job was cancelled.
    case revoked
}

package struct Attempt: Hashable, Sendable, Codable {
    package var lease: LeaseID
    package var worker: WorkerID
    package var state: AttemptState
    package var isSpeculative: Bool
    package var failure: Failure?
    package var started: Instant
    /// `nil` while it runs.
    package var ended: Instant?
    package var frames: Int

    package init(lease: LeaseID, worker: WorkerID, isSpeculative: Bool, started: Instant) {
        self.lease = lease
        self.worker = worker
        self.state = .running
        self.isSpeculative = isSpeculative
        self.started = started
        self.frames = 0
    }

    package func seconds(at now: Instant) -> Double { max(0, ((ended ?? now) - started).seconds) }

    package func framesPerSecond(at now: Instant) -> Double {
        let elapsed = seconds(at: now)
        return elapsed > 0 ? Double(frames) / elapsed : 0
    }
}

package enum SegmentState: String, Hashable, Sendable, Codable, CaseIterable {
    case pending, running, storing, finished, failed
}

package struct SegmentStatus: Hashable, Sendable, Codable {
    package var index: Int
    package var state: SegmentState
    package var frames: Int
    package var attempts: [Attempt]
    /// The last failure; the final one when the segment failed.
    package var failure: Failure?
}

package struct JobStatus: Hashable, Sendable, Codable {
    package var id: JobID
    package var priority: Int
    package var state: JobState
    package var encoder: String
    package var counts: Counts
    /// Leases granted so far, and those of them that were second leases.
    package var leases: Int
    package var speculativeLeases: Int
    /// Segments whose second result differed.
    package var nondeterministic: [Int]
    /// When the rest is predicted to be done with the slots at work now; `nil` when none is.
    package var predictedEnd: Instant?
    package var lastFailure: Failure?

    package struct Counts: Hashable, Sendable, Codable {
        package var pending = 0
        package var running = 0
        package var storing = 0
        package var finished = 0
        package var failed = 0

        package init() {}

        package var total: Int { pending + running + storing + finished + failed }
    }
}

package struct WorkerStatus: Hashable, Sendable, Codable {
    package enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// Connected, not yet ready for a lease.
        case starting
        case idle
        case busy
        /// The node takes no new leases.
        case draining
        /// The node is quarantined for an encoder and this slot is idle.
        case quarantined
        case lost
    }

    package var worker: WorkerID
    package var state: State
    package var lease: LeaseID?
    package var job: JobID?
    package var segment: Int?
    package var encoder: String?
    package var finished: Int
    package var failures: Int
    /// Frames of finished and running attempts of this slot.
    package var frames: Int
    /// Learned speed in weight (pixel-seconds) a second, for the encoder and frame size it worked on last.
    package var speed: Double?
    package var lastFailure: Failure?
}

package struct NodeStatus: Hashable, Sendable, Codable {
    package struct Quarantine: Hashable, Sendable, Codable {
        package var encoder: String
        package var until: Instant
        package var because: Failure
    }

    package var node: String
    package var slots: Int
    package var isDraining: Bool
    package var quarantines: [Quarantine]
}
