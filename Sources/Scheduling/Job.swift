package import ClusterProtocol
package import MediaTime

/// What the scheduler has to know of a job.
package struct JobSpec: Hashable, Sendable, Codable {
    package var id: JobID
    /// Higher goes first. Jobs of one priority share the slots evenly.
    package var priority: Int
    /// The encoder that a slot must offer (`copy` counts as one).
    package var encoder: String
    package var size: FrameSize
    /// In order of presentation; a segment's number is its place here.
    package var segments: [SegmentSpec]
    package var policy: JobPolicy

    package init(
        id: JobID, priority: Int = 0, encoder: String, size: FrameSize, segments: [SegmentSpec],
        policy: JobPolicy = JobPolicy()
    ) {
        self.id = id
        self.priority = priority
        self.encoder = encoder
        self.size = size
        self.segments = segments
        self.policy = policy
    }
}

package struct FrameSize: Hashable, Sendable, Codable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

package struct SegmentSpec: Hashable, Sendable, Codable {
    /// Predicted work in a unit that is the same for every job of an encoder and frame size: pixel-seconds of video.
    /// Not positive or not finite counts as 1.
    package var weight: Double
    /// Predicted number of frames, so that progress can be turned into a prediction; 0 when it is not known.
    package var frames: Int

    package init(weight: Double, frames: Int = 0) {
        self.weight = weight.isFinite && weight > 0 ? weight : 1
        self.frames = frames
    }

    /// Weight from a segment's duration and the size of its frames.
    package init(durationTicks: Int64, timeBase: TimeBase, size: FrameSize, frames: Int = 0) {
        let pixels = Double(max(size.width, 1)) * Double(max(size.height, 1))
        let seconds = Double(durationTicks) * Double(timeBase.numerator) / Double(timeBase.denominator)
        self.init(weight: seconds * pixels, frames: frames)
    }
}

/// How much failure a job bears. Every budget is for one segment.
package struct JobPolicy: Hashable, Sendable, Codable {
    /// No new frame for this long: the lease is revoked and the segment leased elsewhere.
    package var stallLimit = Interval(seconds: 60)
    /// Tries that failed with "the same worker may try again".
    package var retryBudget = 3
    /// Nodes that failed it with "another worker may succeed" (tries, where there are not that many nodes).
    package var nodeBudget = 3
    /// Slots that died or stalled on it: afterwards the segment is taken for one that kills workers.
    package var deathBudget = 5
    /// Slots that crashed or hung on it by themselves: once more elsewhere, then the source is to blame.
    package var crashBudget = 2
    /// Connections that were lost over it. Large: a bad network says little about a segment.
    package var disconnectBudget = 20
    /// Second leases for the segments that are predicted to finish last.
    package var speculation = true
    /// Every able node has been quarantined this often in a row: the job gives up on what is left. 0 for never.
    package var quarantinesBeforeGivingUp = 5

    package init() {}
}

package enum JobState: String, Hashable, Sendable, Codable, CaseIterable {
    /// No segment has been leased since it was submitted.
    case waiting
    case running
    case paused
    /// Every segment has its accepted result.
    case finished
    /// Some segments failed for good; the finished ones are kept.
    case failed
    case cancelled

    package var isOver: Bool { self == .finished || self == .failed || self == .cancelled }
}

/// What is durably known of a job after a restart of the coordinator.
package struct JobProgress: Hashable, Sendable, Codable {
    package struct OpenLease: Hashable, Sendable, Codable {
        package var lease: LeaseID
        package var worker: WorkerID
        package var segment: Int

        package init(lease: LeaseID, worker: WorkerID, segment: Int) {
            self.lease = lease
            self.worker = worker
            self.segment = segment
        }
    }

    package var state: JobState
    /// Accepted segments with the hash of their bytes.
    package var finished: [Int: String]
    package var failed: [Int: Failure]
    /// Leases that were granted and whose end was never recorded. Their segments wait a grace time for the slots to come
    /// back with them.
    package var openLeases: [OpenLease]

    package init(
        state: JobState = .waiting, finished: [Int: String] = [:], failed: [Int: Failure] = [:],
        openLeases: [OpenLease] = []
    ) {
        self.state = state
        self.finished = finished
        self.failed = failed
        self.openLeases = openLeases
    }
}
