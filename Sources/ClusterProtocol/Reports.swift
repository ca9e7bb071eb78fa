package import MediaTime

/// The account of a job: what `export`, `submit --wait` and `job` print.
package struct JobReport: ReportRow {
    package enum State: String, Hashable, Sendable, Codable {
        case queued, planning, running, paused, stitching, done, failed, cancelled
    }

    package static let listType = "jobs"
    package var job: String
    package var state: State
    package var output: String
    /// How many segments the plan has.
    package var segments = 0
    package var attempts = 0
    package var frames = 0
    package var duration: MediaTime
    package var wallSeconds = 0.0
    /// Sum over the accepted attempts.
    package var encodeSeconds = 0.0
    package var slots = 0
    /// Encode seconds ÷ (wall seconds × slots), 0 to 1.
    package var efficiency = 0.0
    /// From the last accepted segment to the end.
    package var tailSeconds = 0.0
    package var warnings: [String] = []
    /// What the source carries and the output does not.
    package var losses: [String] = []
    /// What the source carries and the output does, and how.
    @EmptyWhenAbsent package var carried: [CarriedItem] = []
    /// Where the source's damage shows in the output.
    @EmptyWhenAbsent package var damage: [Damage] = []
    @NullWhenAbsent package var videoHash: String?
    @NullWhenAbsent package var proof: Proof?

    // Beyond the promised fields.
    package var source = ""
    package var priority = 0
    package var segmentsDone = 0
    package var segmentsFailed = 0
    package var outputBytes: Int64 = 0
    /// Space that the job's spool holds.
    package var spoolBytes: Int64 = 0
    /// It held the finished segments, and was cleaned since.
    @FalseWhenAbsent package var spoolCleaned = false
    package var fps = 0.0
    package var etaSeconds: Double?
    package var failure: Failure?
    /// How each node that took part gets the source.
    package var sourceAccess: [String: Lease.Access]?
    /// How what slots returned was looked at; `nil` where it was not.
    package var checks: Checks?

    package init(job: String, state: State, output: String, duration: MediaTime) {
        self.job = job
        self.state = state
        self.output = output
        self.duration = duration
    }

    private enum CodingKeys: String, CodingKey {
        case job, state, output, segments, attempts, frames, duration
        case wallSeconds = "wall_seconds"
        case encodeSeconds = "encode_seconds"
        case slots, efficiency
        case tailSeconds = "tail_seconds"
        case warnings, losses, carried, damage
        case videoHash = "video_hash"
        case proof, source, priority
        case segmentsDone = "segments_done"
        case segmentsFailed = "segments_failed"
        case outputBytes = "output_bytes"
        case spoolBytes = "spool_bytes"
        case spoolCleaned = "spool_cleaned"
        case fps
        case etaSeconds = "eta_seconds"
        case failure
        case sourceAccess = "source_access"
        case checks
    }

    /// What looking at returned segments found, and what it cost.
    package struct Checks: Hashable, Sendable, Codable {
        /// `decode`, `compare` or `encode`.
        package var level: String
        /// Results that were looked at.
        package var segments = 0
        /// Of those, how many were encoded once more because something spoke against them.
        package var encoded = 0
        /// Of those, how many were made anew.
        package var redone = 0
        /// Processor seconds on the coordinator's machine.
        package var seconds = 0.0

        package init(level: String) { self.level = level }
    }

    /// The comparison of every source timestamp with the output.
    package struct Proof: Hashable, Sendable, Codable {
        package var pass: Bool
        package var sourceFrames: Int
        package var outputFrames: Int
        package var missing: Int
        package var duplicated: Int
        /// Seconds, for people; 0 only when every time is exact.
        package var maxPTSError: Double
        /// Every track beside the picture: what was promised of it, and what the file, read again, has.
        @EmptyWhenAbsent package var tracks: [CarriedTrack] = []
        /// Why it does not pass, one sentence each.
        @EmptyWhenAbsent package var complaints: [String] = []
        /// What was promised beside the tracks (chapters, time code, tags) and is not in the file, one sentence each; it stands in
        /// the report's `losses`, too.
        @EmptyWhenAbsent package var lacking: [String] = []

        package init(
            pass: Bool, sourceFrames: Int, outputFrames: Int, missing: Int, duplicated: Int, maxPTSError: Double
        ) {
            self.pass = pass
            self.sourceFrames = sourceFrames
            self.outputFrames = outputFrames
            self.missing = missing
            self.duplicated = duplicated
            self.maxPTSError = maxPTSError
        }

        private enum CodingKeys: String, CodingKey {
            case pass
            case sourceFrames = "source_frames"
            case outputFrames = "output_frames"
            case missing, duplicated
            case maxPTSError = "max_pts_error"
            case tracks, complaints, lacking
        }

        /// One carried track.
        package struct CarriedTrack: Hashable, Sendable, Codable {
            /// Index in the source.
            package var track: Int
            package var kind: String
            /// In the output.
            package var codec: String
            package var sourceSamples: Int
            package var outputSamples: Int
            /// When the last sample ends, from the start of the output; 0 without any.
            package var sourceEnd: Double
            package var outputEnd: Double
            package var pass: Bool

            package init(
                track: Int, kind: String, codec: String, sourceSamples: Int, outputSamples: Int, sourceEnd: Double,
                outputEnd: Double, pass: Bool
            ) {
                self.track = track
                self.kind = kind
                self.codec = codec
                self.sourceSamples = sourceSamples
                self.outputSamples = outputSamples
                self.sourceEnd = sourceEnd
                self.outputEnd = outputEnd
                self.pass = pass
            }

            private enum CodingKeys: String, CodingKey {
                case track, kind, codec
                case sourceSamples = "source_samples"
                case outputSamples = "output_samples"
                case sourceEnd = "source_end"
                case outputEnd = "output_end"
                case pass
            }
        }
    }
}

/// One segment of a job, with every try.
package struct SegmentReport: ReportRow {
    package enum State: String, Hashable, Sendable, Codable {
        case pending, running, done, failed
    }

    package static let listType = "segments"
    package var index: Int
    package var start: MediaTime
    package var end: MediaTime
    package var state: State
    package var frames: Int
    package var attempts: [Attempt]
    /// Why it failed for good.
    @NullWhenAbsent package var failure: Failure?
    /// It is done, and its bytes are no longer in the spool.
    @FalseWhenAbsent package var cleaned = false

    package init(
        index: Int, start: MediaTime, end: MediaTime, state: State, frames: Int = 0, attempts: [Attempt] = [],
        failure: Failure? = nil
    ) {
        self.failure = failure
        self.index = index
        self.start = start
        self.end = end
        self.state = state
        self.frames = frames
        self.attempts = attempts
    }

    package struct Attempt: Hashable, Sendable, Codable {
        package enum State: String, Hashable, Sendable, Codable {
            case running, accepted, failed, lost, revoked, superseded
        }

        /// `node/slot`.
        package var worker: String
        package var node: String
        package var state: State
        @NullWhenAbsent package var failure: Failure?
        package var seconds: Double
        package var fps: Double

        package init(
            worker: String, node: String, state: State, failure: Failure? = nil, seconds: Double = 0, fps: Double = 0
        ) {
            self.worker = worker
            self.node = node
            self.state = state
            self.failure = failure
            self.seconds = seconds
            self.fps = fps
        }
    }
}

/// One slot of the cluster.
package struct WorkerReport: ReportRow {
    package enum State: String, Hashable, Sendable, Codable {
        case idle, busy, draining, quarantined, lost
        /// It said goodbye: drained, stopped or preempted.
        case left
    }

    package static let listType = "workers"
    package var node: String
    package var slot: Int
    package var state: State
    /// Of the lease at hand.
    @NullWhenAbsent package var encoder: String?
    @NullWhenAbsent package var segment: Int?
    /// Since the slot joined.
    package var frames = 0
    package var fps = 0.0
    /// Media seconds a second.
    package var realtime = 0.0
    package var bytesIn: Int64 = 0
    package var bytesOut: Int64 = 0
    package var failures = 0
    /// Why the node gets no work, or what went wrong on the slot last.
    @NullWhenAbsent package var note: String?
    package var stageSeconds = StageSeconds()
    @NullWhenAbsent package var job: String?
    package var host = ""
    /// The node was told to leave and takes no new leases.
    package var isLeaving = false
    /// How the slot gets the source of the lease at hand, or of the last one.
    @NullWhenAbsent package var sourceAccess: Lease.Access?

    package init(node: String, slot: Int, state: State) {
        self.node = node
        self.slot = slot
        self.state = state
    }

    private enum CodingKeys: String, CodingKey {
        case node, slot, state, encoder, segment, frames, fps, realtime
        case bytesIn = "bytes_in"
        case bytesOut = "bytes_out"
        case failures, note
        case stageSeconds = "stage_seconds"
        case job, host
        case isLeaving = "leaving"
        case sourceAccess = "source_access"
    }
}

/// Something that happened to a job, a segment or a worker.
package struct EventReport: ReportRow {
    package static let listType = "events"
    /// Rises; never repeats in one store.
    package var id: Int64
    /// Seconds since 1970, UTC.
    package var time: Double
    /// A short word: `submitted`, `leased`, `accepted`, `failed`, `lost`…
    package var kind: String
    package var job: String?
    package var segment: Int?
    package var node: String?
    package var slot: Int?
    /// One sentence.
    package var detail: String

    package init(
        id: Int64, time: Double, kind: String, job: String? = nil, segment: Int? = nil, node: String? = nil,
        slot: Int? = nil, detail: String = ""
    ) {
        self.id = id
        self.time = time
        self.kind = kind
        self.job = job
        self.segment = segment
        self.node = node
        self.slot = slot
        self.detail = detail
    }
}
