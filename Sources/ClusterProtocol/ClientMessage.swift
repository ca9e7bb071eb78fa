/// What a client asks of the coordinator. `request` is the client's own number and comes back in every reply.
package enum ClientRequest: WireMessage {
    case submit(Submit)
    case query(Query)
    case control(Control)

    package var body: any MessageBody {
        switch self {
        case .submit(let body): body
        case .query(let body): body
        case .control(let body): body
        }
    }

    package var request: Int {
        switch self {
        case .submit(let body): body.request
        case .query(let body): body.request
        case .control(let body): body.request
        }
    }

    package init?(type: String, from decoder: any Decoder) throws {
        switch type {
        case Submit.type: self = .submit(try Submit(from: decoder))
        case Query.type: self = .query(try Query(from: decoder))
        case Control.type: self = .control(try Control(from: decoder))
        default: return nil
        }
    }
}

/// A new job.
package struct Submit: MessageBody {
    package static let type = "submit"
    package var request: Int
    package var settings: ExportSettings
    /// As the coordinator's machine names them.
    package var source: String
    package var destination: String
    /// Higher goes first; 0 is usual.
    package var priority: Int
    /// An existing destination may be replaced.
    package var overwrite: Bool
    /// Names of the options that somebody stated (`audio`, `quality`): a default may be adapted to the source, these not.
    package var stated: [String]

    package init(
        request: Int, settings: ExportSettings, source: String, destination: String, priority: Int = 0,
        overwrite: Bool = false, stated: [String] = []
    ) {
        self.stated = stated
        self.request = request
        self.settings = settings
        self.source = source
        self.destination = destination
        self.priority = priority
        self.overwrite = overwrite
    }

    private enum CodingKeys: String, CodingKey {
        case request, settings, source, destination, priority, overwrite, stated
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            request: try container.decode(Int.self, forKey: .request),
            settings: try container.decodeIfPresent(ExportSettings.self, forKey: .settings) ?? ExportSettings(),
            source: try container.decode(String.self, forKey: .source),
            destination: try container.decode(String.self, forKey: .destination),
            priority: try container.decodeIfPresent(Int.self, forKey: .priority) ?? 0,
            overwrite: try container.decodeIfPresent(Bool.self, forKey: .overwrite) ?? false,
            stated: try container.decodeIfPresent([String].self, forKey: .stated) ?? [])
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try settings.check()
        guard !source.isEmpty, !destination.isEmpty else { throw .malformed("A job has a source and a destination.") }
        try Bounds.text(source, "source", atMost: ProtocolLimits.locationBytes)
        try Bounds.text(destination, "destination", atMost: ProtocolLimits.locationBytes)
        try Bounds.number(priority, "priority", in: -1000...1000)
        try Bounds.texts(stated, "stated", atMost: ProtocolLimits.options)
    }
}

/// A question.
package struct Query: MessageBody {
    package enum Subject: String, Hashable, Sendable, Codable, CaseIterable {
        case jobs, job, segments, workers, events
        /// The bytes of a finished segment, as the spool holds them.
        case samples
    }

    package static let type = "query"
    package var request: Int
    package var subject: Subject
    /// Needed for `job`, `segments` and `samples`; narrows `events`.
    package var job: String?
    /// `segments`: only those that failed.
    package var failed: Bool
    /// `events`: only those with a higher id.
    package var after: Int64
    /// `events`: go on as they happen, until the client goes away.
    package var follow: Bool
    /// `samples`: which segment.
    package var segment: Int?
    /// `samples`: the first byte wanted.
    package var offset: Int64

    package init(
        request: Int, subject: Subject, job: String? = nil, failed: Bool = false, after: Int64 = 0,
        follow: Bool = false, segment: Int? = nil, offset: Int64 = 0
    ) {
        self.segment = segment
        self.offset = offset
        self.request = request
        self.subject = subject
        self.job = job
        self.failed = failed
        self.after = after
        self.follow = follow
    }

    private enum CodingKeys: String, CodingKey {
        case request, subject, job, failed, after, follow, segment, offset
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            request: try container.decode(Int.self, forKey: .request),
            subject: try container.decode(Subject.self, forKey: .subject),
            job: try container.decodeIfPresent(String.self, forKey: .job),
            failed: try container.decodeIfPresent(Bool.self, forKey: .failed) ?? false,
            after: try container.decodeIfPresent(Int64.self, forKey: .after) ?? 0,
            follow: try container.decodeIfPresent(Bool.self, forKey: .follow) ?? false,
            segment: try container.decodeIfPresent(Int.self, forKey: .segment),
            offset: try container.decodeIfPresent(Int64.self, forKey: .offset) ?? 0)
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        if let job, !LeaseName.isValidJob(job) { throw .malformed("job is not a job id.") }
        if job == nil, [.job, .segments, .samples].contains(subject) {
            throw .malformed("The subject \(subject.rawValue) needs a job.")
        }
        if segment == nil, subject == .samples { throw .malformed("The subject samples needs a segment.") }
        try Bounds.number(after, "after", in: 0...Int64.max)
        try Bounds.number(segment ?? 0, "segment", in: 0...ProtocolLimits.segments)
        try Bounds.number(offset, "offset", in: 0...Int64.max)
    }
}

/// An order about a job, or about a node for `drain` and `release`.
package struct Control: MessageBody {
    package enum Action: String, Hashable, Sendable, Codable, CaseIterable {
        case cancel, pause, resume, retry, drain
        /// Ends a node's quarantines.
        case release
    }

    package static let type = "control"
    package var request: Int
    package var action: Action
    /// A job id; for `drain` and `release` the name of a node.
    package var target: String
    /// `retry`: these segments, also finished ones; empty for all that failed.
    package var segments: [Int]
    /// `retry`: settings to use instead, for those segments; of these, those that `stated` names.
    package var settings: ExportSettings?
    package var stated: [String]
    /// `retry`: only on this node.
    package var node: String?

    package init(
        request: Int, action: Action, target: String, segments: [Int] = [], settings: ExportSettings? = nil,
        stated: [String] = [], node: String? = nil
    ) {
        self.stated = stated
        self.request = request
        self.action = action
        self.target = target
        self.segments = segments
        self.settings = settings
        self.node = node
    }

    private enum CodingKeys: String, CodingKey { case request, action, target, segments, settings, stated, node }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            request: try container.decode(Int.self, forKey: .request),
            action: try container.decode(Action.self, forKey: .action),
            target: try container.decode(String.self, forKey: .target),
            segments: try container.decodeIfPresent([Int].self, forKey: .segments) ?? [],
            settings: try container.decodeIfPresent(ExportSettings.self, forKey: .settings),
            stated: try container.decodeIfPresent([String].self, forKey: .stated) ?? [],
            node: try container.decodeIfPresent(String.self, forKey: .node))
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        if action == .drain || action == .release {
            try Bounds.name(target, "target")
        } else if !LeaseName.isValidJob(target) {
            throw .malformed("target is not a job id.")
        }
        try Bounds.count(segments.count, "segments", atMost: ProtocolLimits.rows)
        for segment in segments { try Bounds.number(segment, "segments", in: 0...ProtocolLimits.segments) }
        try settings?.check()
        try Bounds.texts(stated, "stated", atMost: ProtocolLimits.options)
        if let node { try Bounds.name(node, "node") }
    }
}
