package import SegmentPlan

/// What the coordinator tells a slot or a node.
package enum CoordinatorMessage: WireMessage {
    case identify(Identify)
    case welcome(Welcome)
    case refused(Refused)
    case prove(Prove)
    case lease(Lease)
    case source(SourceChunk)
    case revoke(Revoke)
    case credit(Credit)
    case accepted(Accepted)
    case drain(Drain)
    case shutdown(Shutdown)

    package var body: any MessageBody {
        switch self {
        case .identify(let body): body
        case .welcome(let body): body
        case .refused(let body): body
        case .prove(let body): body
        case .lease(let body): body
        case .source(let body): body
        case .revoke(let body): body
        case .credit(let body): body
        case .accepted(let body): body
        case .drain(let body): body
        case .shutdown(let body): body
        }
    }

    package init?(type: String, from decoder: any Decoder) throws {
        switch type {
        case Identify.type: self = .identify(try Identify(from: decoder))
        case Welcome.type: self = .welcome(try Welcome(from: decoder))
        case Refused.type: self = .refused(try Refused(from: decoder))
        case Prove.type: self = .prove(try Prove(from: decoder))
        case Lease.type: self = .lease(try Lease(from: decoder))
        case SourceChunk.type: self = .source(try SourceChunk(from: decoder))
        case Revoke.type: self = .revoke(try Revoke(from: decoder))
        case Credit.type: self = .credit(try Credit(from: decoder))
        case Accepted.type: self = .accepted(try Accepted(from: decoder))
        case Drain.type: self = .drain(try Drain(from: decoder))
        case Shutdown.type: self = .shutdown(try Shutdown(from: decoder))
        default: return nil
        }
    }
}

/// "I do not know you": the answer to anything but a hello from a stranger, such as a slot after a coordinator's restart.
package struct Identify: MessageBody {
    package static let type = "identify"
    package init() {}
}

/// The hello was accepted.
package struct Welcome: MessageBody {
    package static let type = "welcome"
    /// Unique for each start of the coordinator.
    package var coordinator: String
    package var version: String
    /// Seconds between heartbeats of the peer when it has nothing else to say.
    package var heartbeatSeconds: Double
    /// Seconds of silence after which either side takes the other for lost.
    package var livenessSeconds: Double
    /// The lease of the hello's `resume` goes on from here; `nil` drops it.
    package var resume: Resume?
    /// The coordinator streams sources to slots that cannot open them.
    @FalseWhenAbsent package var streams: Bool

    /// Where a lease goes on after the coordinator came back.
    package struct Resume: Hashable, Sendable, Codable {
        package var lease: LeaseName
        /// Bytes that the coordinator holds: the next chunk starts here, with sequence 0.
        package var offset: Int64
        /// Bytes that may be sent at once.
        package var credit: Int64

        package init(lease: LeaseName, offset: Int64, credit: Int64) {
            self.lease = lease
            self.offset = offset
            self.credit = credit
        }
    }

    package init(
        coordinator: String, version: String, heartbeatSeconds: Double, livenessSeconds: Double, resume: Resume? = nil,
        streams: Bool = false
    ) {
        self.coordinator = coordinator
        self.version = version
        self.heartbeatSeconds = heartbeatSeconds
        self.livenessSeconds = livenessSeconds
        self.resume = resume
        self.streams = streams
    }

    private enum CodingKeys: String, CodingKey {
        case coordinator, version
        case heartbeatSeconds = "heartbeat_seconds"
        case livenessSeconds = "liveness_seconds"
        case resume, streams
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try Bounds.name(coordinator, "coordinator")
        try Bounds.name(version, "version")
        try Bounds.seconds(heartbeatSeconds, "heartbeat_seconds")
        try Bounds.seconds(livenessSeconds, "liveness_seconds")
        if let resume {
            try Bounds.number(resume.offset, "resume.offset", in: 0...ProtocolLimits.segmentBytes)
            try Bounds.number(resume.credit, "resume.credit", in: 0...ProtocolLimits.creditBytes)
        }
    }
}

/// The peer, or its last message, was not accepted.
package struct Refused: MessageBody {
    package static let type = "refused"
    package var failure: Failure

    package init(_ failure: Failure) { self.failure = failure.bounded() }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try failure.check()
    }
}

/// Encode the reference frames with this recipe and answer with their fingerprint.
package struct Prove: MessageBody {
    package static let type = "prove"
    package var job: String
    package var recipe: EncodeRecipe

    package init(job: String, recipe: EncodeRecipe) {
        self.job = job
        self.recipe = recipe
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        guard LeaseName.isValidJob(job) else { throw .malformed("job is not a job id.") }
        try recipe.check()
    }
}

/// Encode this segment.
package struct Lease: MessageBody {
    /// How the slot gets the source.
    package enum Access: String, Hashable, Sendable, Codable {
        /// It opens the same path or URL, whose fingerprint must be equal.
        case direct
        /// The coordinator streams the segment's samples in `source` messages.
        case streamed
    }

    package static let type = "lease"
    package var lease: LeaseName
    package var job: String
    package var recipe: EncodeRecipe
    package var source: SourceReference
    package var access: Access
    package var segment: Segment
    /// Bytes of chunks that may be sent before more credit comes.
    package var credit: Int64
    /// Bytes of one chunk, at most `ProtocolLimits.chunkBytes`.
    package var chunkBytes: Int
    /// Seconds without a new frame after which the slot is taken for hung.
    package var stallSeconds: Double
    /// Seconds between progress messages.
    package var progressSeconds: Double

    package init(
        lease: LeaseName, recipe: EncodeRecipe, source: SourceReference, access: Access = .direct, segment: Segment,
        credit: Int64 = 8 << 20, chunkBytes: Int = 256 << 10, stallSeconds: Double = 60, progressSeconds: Double = 0.5
    ) {
        self.lease = lease
        self.job = lease.job
        self.recipe = recipe
        self.source = source
        self.access = access
        self.segment = segment
        self.credit = credit
        self.chunkBytes = chunkBytes
        self.stallSeconds = stallSeconds
        self.progressSeconds = progressSeconds
    }

    private enum CodingKeys: String, CodingKey {
        case lease, job, recipe, source, access, segment, credit
        case chunkBytes = "chunk_bytes"
        case stallSeconds = "stall_seconds"
        case progressSeconds = "progress_seconds"
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        guard job == lease.job else { throw .malformed("The lease id names another job.") }
        try recipe.check()
        try source.check()
        try segment.check()
        try Bounds.number(credit, "credit", in: 0...ProtocolLimits.creditBytes)
        try Bounds.number(chunkBytes, "chunk_bytes", in: 1...ProtocolLimits.chunkBytes)
        try Bounds.seconds(stallSeconds, "stall_seconds")
        try Bounds.seconds(progressSeconds, "progress_seconds")
    }
}

/// Stop this lease: its result is no longer wanted.
package struct Revoke: MessageBody {
    package static let type = "revoke"
    package var lease: LeaseName
    /// For the log.
    package var reason: String

    package init(lease: LeaseName, reason: String) {
        self.lease = lease
        self.reason = reason.clipped()
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try Bounds.text(reason, "reason")
    }
}

/// The coordinator can take this many more bytes of chunks.
package struct Credit: MessageBody {
    package static let type = "credit"
    package var lease: LeaseName
    package var bytes: Int64

    package init(lease: LeaseName, bytes: Int64) {
        self.lease = lease
        self.bytes = bytes
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try Bounds.number(bytes, "bytes", in: 1...ProtocolLimits.creditBytes)
    }
}

/// The result is durable: the slot may forget the segment's bytes.
package struct Accepted: MessageBody {
    package static let type = "accepted"
    package var lease: LeaseName

    package init(lease: LeaseName) { self.lease = lease }
}

/// Finish the lease at hand, then say goodbye.
package struct Drain: MessageBody {
    package static let type = "drain"
    package init() {}
}

/// End now.
package struct Shutdown: MessageBody {
    package static let type = "shutdown"
    package init() {}
}
