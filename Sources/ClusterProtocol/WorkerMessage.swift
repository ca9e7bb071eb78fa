package import SegmentPlan

/// What a slot or a node tells the coordinator.
package enum WorkerMessage: WireMessage {
    case hello(Hello)
    case ready(Ready)
    case fingerprint(FingerprintAnswer)
    case progress(Progress)
    case sourceCredit(SourceCredit)
    case chunk(Chunk)
    case result(SegmentResult)
    case failed(LeaseFailed)
    case heartbeat(Heartbeat)
    case goodbye(Goodbye)

    package var body: any MessageBody {
        switch self {
        case .hello(let body): body
        case .ready(let body): body
        case .fingerprint(let body): body
        case .progress(let body): body
        case .sourceCredit(let body): body
        case .chunk(let body): body
        case .result(let body): body
        case .failed(let body): body
        case .heartbeat(let body): body
        case .goodbye(let body): body
        }
    }

    package init?(type: String, from decoder: any Decoder) throws {
        switch type {
        case Hello.type: self = .hello(try Hello(from: decoder))
        case Ready.type: self = .ready(try Ready(from: decoder))
        case FingerprintAnswer.type: self = .fingerprint(try FingerprintAnswer(from: decoder))
        case Progress.type: self = .progress(try Progress(from: decoder))
        case SourceCredit.type: self = .sourceCredit(try SourceCredit(from: decoder))
        case Chunk.type: self = .chunk(try Chunk(from: decoder))
        case SegmentResult.type: self = .result(try SegmentResult(from: decoder))
        case LeaseFailed.type: self = .failed(try LeaseFailed(from: decoder))
        case Heartbeat.type: self = .heartbeat(try Heartbeat(from: decoder))
        case Goodbye.type: self = .goodbye(try Goodbye(from: decoder))
        default: return nil
        }
    }
}

/// Everything that reaches a coordinator's socket: workers and clients share it.
package enum InboundMessage: WireMessage {
    case worker(WorkerMessage)
    case client(ClientRequest)

    package var body: any MessageBody {
        switch self {
        case .worker(let message): message.body
        case .client(let message): message.body
        }
    }

    package init?(type: String, from decoder: any Decoder) throws {
        if let message = try WorkerMessage(type: type, from: decoder) {
            self = .worker(message)
        } else if let message = try ClientRequest(type: type, from: decoder) {
            self = .client(message)
        } else {
            return nil
        }
    }
}

/// A slot asks for a lease. One `ready` is credit for exactly one lease.
package struct Ready: MessageBody {
    package static let type = "ready"
    /// Hash of the source that the slot holds open from its last lease; leases of that source start at once.
    package var source: String?

    package init(source: String? = nil) { self.source = source }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try Bounds.text(source ?? "", "source", atMost: ProtocolLimits.nameBytes)
    }
}

/// What a job's recipe makes of the reference frames on this slot; equal answers encode alike.
package struct FingerprintAnswer: MessageBody {
    package static let type = "fingerprint"
    package var job: String
    /// Hash over the extradata and the encoded reference frames; empty when `failure` says why there is none.
    package var hash: String
    package var failure: Failure?

    package init(job: String, hash: String, failure: Failure? = nil) {
        self.job = job
        self.hash = hash
        self.failure = failure?.bounded()
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        guard LeaseName.isValidJob(job) else { throw .malformed("job is not a job id.") }
        try Bounds.text(hash, "hash", atMost: ProtocolLimits.nameBytes)
        try failure?.check()
    }
}

/// How far a lease is. Sent at the interval that the lease asks for, also when nothing moved.
package struct Progress: MessageBody {
    package static let type = "progress"
    package var lease: LeaseName
    /// Owned frames encoded.
    package var frames: Int
    /// Presentation time reached, in ticks of the recipe's time base; `nil` before the first frame.
    package var ticks: Int64?
    package var stageSeconds: StageSeconds
    /// Bytes of samples encoded.
    package var bytes: Int64
    /// Bytes read of the source.
    package var bytesRead: Int64

    package init(
        lease: LeaseName, frames: Int, ticks: Int64?, stageSeconds: StageSeconds = .init(), bytes: Int64 = 0,
        bytesRead: Int64 = 0
    ) {
        self.lease = lease
        self.frames = frames
        self.ticks = ticks
        self.stageSeconds = stageSeconds
        self.bytes = bytes
        self.bytesRead = bytesRead
    }

    private enum CodingKeys: String, CodingKey {
        case lease, frames, ticks
        case stageSeconds = "stage_seconds"
        case bytes
        case bytesRead = "bytes_read"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            lease: try container.decode(LeaseName.self, forKey: .lease),
            frames: try container.decode(Int.self, forKey: .frames),
            ticks: try container.decodeIfPresent(Int64.self, forKey: .ticks),
            stageSeconds: try container.decodeIfPresent(StageSeconds.self, forKey: .stageSeconds) ?? .init(),
            bytes: try container.decodeIfPresent(Int64.self, forKey: .bytes) ?? 0,
            bytesRead: try container.decodeIfPresent(Int64.self, forKey: .bytesRead) ?? 0)
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try Bounds.number(frames, "frames", in: 0...ProtocolLimits.samples)
        try Bounds.number(bytes, "bytes", in: 0...ProtocolLimits.segmentBytes)
        try Bounds.number(bytesRead, "bytes_read", in: 0...Int64.max)
        try stageSeconds.check()
    }
}

/// The slot can take this many more bytes of the segment's samples, which the coordinator streams to it.
///
/// The first of a stream begins it; a lease with direct access becomes a streamed one by it.
package struct SourceCredit: MessageBody {
    package static let type = "source_credit"
    package var lease: LeaseName
    /// Bytes of payload frames.
    package var bytes: Int64
    /// Rises when the slot wants the samples anew: after a connection that broke, or from another entry. `source` messages repeat it.
    package var stream: Int
    /// Sequence of the first message that is wanted of this stream.
    package var from: Int
    /// The keyframe that the samples begin with; `nil` for the segment's own entry. A damaged entry makes a slot begin earlier.
    package var entry: Keyframe?
    /// Why the slot does not read the source itself.
    package var failure: Failure?

    package init(
        lease: LeaseName, bytes: Int64, stream: Int = 0, from: Int = 0, entry: Keyframe? = nil, failure: Failure? = nil
    ) {
        self.lease = lease
        self.bytes = bytes
        self.stream = stream
        self.from = from
        self.entry = entry
        self.failure = failure?.bounded()
    }

    private enum CodingKeys: String, CodingKey {
        case lease, bytes, stream, from, entry, failure
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        lease = try container.decode(LeaseName.self, forKey: .lease)
        bytes = try container.decode(Int64.self, forKey: .bytes)
        stream = try container.decodeIfPresent(Int.self, forKey: .stream) ?? 0
        from = try container.decodeIfPresent(Int.self, forKey: .from) ?? 0
        entry = try container.decodeIfPresent(Keyframe.self, forKey: .entry)
        failure = try container.decodeIfPresent(Failure.self, forKey: .failure)
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try Bounds.number(bytes, "bytes", in: 1...ProtocolLimits.creditBytes)
        try Bounds.number(stream, "stream", in: 0...ProtocolLimits.streams)
        try Bounds.number(from, "from", in: 0...Int(ProtocolLimits.segmentBytes))
        try entry?.check()
        try failure?.check()
    }
}

/// The next bytes of a segment's samples, in decode order and without gaps. Payload: [bytes].
package struct Chunk: MessageBody {
    package static let type = "chunk"
    package var lease: LeaseName
    /// 0, 1, 2… within the lease.
    package var sequence: Int
    /// Where the bytes belong in the segment.
    package var offset: Int64

    package init(lease: LeaseName, sequence: Int, offset: Int64) {
        self.lease = lease
        self.sequence = sequence
        self.offset = offset
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        guard payload.count == 1, payload[0] > 0 else { throw .malformed("A chunk carries one frame of bytes.") }
        try PayloadShape.chunk(payload[0], "The chunk")
        try Bounds.number(sequence, "sequence", in: 0...Int(ProtocolLimits.segmentBytes))
        try Bounds.number(offset, "offset", in: 0...(ProtocolLimits.segmentBytes - Int64(payload[0])))
    }
}

/// The segment is done and all its chunks were sent. Payload: [format archive][sample table, cut into frames].
package struct SegmentResult: MessageBody {
    package static let type = "result"
    package var lease: LeaseName
    /// Owned frames of the source that went in.
    package var frames: Int
    /// Samples that came out.
    package var samples: Int
    /// Bytes of all chunks.
    package var bytes: Int64
    /// XXH3-128 of the bytes of all chunks, 32 hexadecimal digits.
    package var hash: String
    package var stageSeconds: StageSeconds
    /// Wall time of the lease on the slot.
    package var seconds: Double
    /// Lowest and highest PTS of the samples, ticks of the recipe's time base; `nil` without samples.
    package var firstPTS: Int64?
    package var lastPTS: Int64?
    package var bytesRead: Int64
    package var warnings: [String]

    package init(
        lease: LeaseName, frames: Int, samples: Int, bytes: Int64, hash: String, stageSeconds: StageSeconds = .init(),
        seconds: Double = 0, firstPTS: Int64? = nil, lastPTS: Int64? = nil, bytesRead: Int64 = 0,
        warnings: [String] = []
    ) {
        self.lease = lease
        self.frames = frames
        self.samples = samples
        self.bytes = bytes
        self.hash = hash
        self.stageSeconds = stageSeconds
        self.seconds = seconds
        self.firstPTS = firstPTS
        self.lastPTS = lastPTS
        self.bytesRead = bytesRead
        self.warnings = warnings.clipped(to: ProtocolLimits.warnings)
    }

    private enum CodingKeys: String, CodingKey {
        case lease, frames, samples, bytes, hash
        case stageSeconds = "stage_seconds"
        case seconds
        case firstPTS = "first_pts"
        case lastPTS = "last_pts"
        case bytesRead = "bytes_read"
        case warnings
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        lease = try container.decode(LeaseName.self, forKey: .lease)
        frames = try container.decode(Int.self, forKey: .frames)
        samples = try container.decode(Int.self, forKey: .samples)
        bytes = try container.decode(Int64.self, forKey: .bytes)
        hash = try container.decode(String.self, forKey: .hash)
        stageSeconds = try container.decodeIfPresent(StageSeconds.self, forKey: .stageSeconds) ?? .init()
        seconds = try container.decodeIfPresent(Double.self, forKey: .seconds) ?? 0
        firstPTS = try container.decodeIfPresent(Int64.self, forKey: .firstPTS)
        lastPTS = try container.decodeIfPresent(Int64.self, forKey: .lastPTS)
        bytesRead = try container.decodeIfPresent(Int64.self, forKey: .bytesRead) ?? 0
        warnings = try container.decodeIfPresent([String].self, forKey: .warnings) ?? []
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        guard payload.count >= 2 else { throw .malformed("A result carries a format archive and a sample table.") }
        guard payload[0] <= ProtocolLimits.formatBytes else { throw .limit("The format archive is too large.") }
        try PayloadShape.table(payload.dropFirst())
        try Bounds.number(frames, "frames", in: 0...ProtocolLimits.samples)
        try Bounds.number(samples, "samples", in: 0...ProtocolLimits.samples)
        try Bounds.number(bytes, "bytes", in: 0...ProtocolLimits.segmentBytes)
        try Bounds.number(bytesRead, "bytes_read", in: 0...Int64.max)
        try Bounds.hex(hash, "hash", digits: 32)
        try stageSeconds.check()
        try Bounds.seconds(seconds, "seconds")
        if let firstPTS, let lastPTS, firstPTS > lastPTS { throw .malformed("first_pts is above last_pts.") }
        try Bounds.texts(warnings, "warnings", atMost: ProtocolLimits.warnings)
    }
}

/// The lease could not be done.
package struct LeaseFailed: MessageBody {
    package static let type = "failed"
    package var lease: LeaseName
    package var failure: Failure
    /// Frames encoded before it failed.
    package var frames: Int
    /// The node can do no segment of this job: it cannot open the source.
    package var isUnfit: Bool

    package init(lease: LeaseName, failure: Failure, frames: Int = 0, isUnfit: Bool = false) {
        self.lease = lease
        self.failure = failure.bounded()
        self.frames = frames
        self.isUnfit = isUnfit
    }

    private enum CodingKeys: String, CodingKey {
        case lease, failure, frames
        case isUnfit = "unfit"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        lease = try container.decode(LeaseName.self, forKey: .lease)
        failure = try container.decode(Failure.self, forKey: .failure)
        frames = try container.decodeIfPresent(Int.self, forKey: .frames) ?? 0
        isUnfit = try container.decodeIfPresent(Bool.self, forKey: .isUnfit) ?? false
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try failure.check()
        try Bounds.number(frames, "frames", in: 0...ProtocolLimits.samples)
    }
}

/// The peer lives. Sent at the interval of `Welcome` when there is nothing else to say.
package struct Heartbeat: MessageBody {
    package static let type = "heartbeat"
    /// The lease that the slot works on: the coordinator revokes one that it no longer knows.
    package var lease: LeaseName?

    package init(lease: LeaseName? = nil) { self.lease = lease }
}

/// The peer ends by its own will; its lease, if any, is free at once.
package struct Goodbye: MessageBody {
    package enum Reason: String, Hashable, Sendable, Codable {
        case drained, stopped, preempted
    }

    package static let type = "goodbye"
    package var reason: Reason
    package var lease: LeaseName?

    package init(reason: Reason, lease: LeaseName? = nil) {
        self.reason = reason
        self.lease = lease
    }
}
