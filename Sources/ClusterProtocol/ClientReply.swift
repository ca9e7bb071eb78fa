/// What the coordinator answers a client. Lists longer than one header come as several replies; the last has `more` false.
package enum ClientReply: WireMessage {
    case submitted(Submitted)
    case done(Done)
    case jobs(Rows<JobReport>)
    case segments(Rows<SegmentReport>)
    case workers(Rows<WorkerReport>)
    case events(Rows<EventReport>)
    case samples(SpooledBytes)
    case failure(RequestFailed)

    package var body: any MessageBody {
        switch self {
        case .submitted(let body): body
        case .done(let body): body
        case .jobs(let body): body
        case .segments(let body): body
        case .workers(let body): body
        case .events(let body): body
        case .samples(let body): body
        case .failure(let body): body
        }
    }

    package var request: Int {
        switch self {
        case .submitted(let body): body.request
        case .done(let body): body.request
        case .jobs(let body): body.request
        case .segments(let body): body.request
        case .workers(let body): body.request
        case .events(let body): body.request
        case .samples(let body): body.request
        case .failure(let body): body.request
        }
    }

    package init?(type: String, from decoder: any Decoder) throws {
        switch type {
        case Submitted.type: self = .submitted(try Submitted(from: decoder))
        case Done.type: self = .done(try Done(from: decoder))
        case Rows<JobReport>.type: self = .jobs(try Rows(from: decoder))
        case Rows<SegmentReport>.type: self = .segments(try Rows(from: decoder))
        case Rows<WorkerReport>.type: self = .workers(try Rows(from: decoder))
        case Rows<EventReport>.type: self = .events(try Rows(from: decoder))
        case SpooledBytes.type: self = .samples(try SpooledBytes(from: decoder))
        case RequestFailed.type: self = .failure(try RequestFailed(from: decoder))
        default: return nil
        }
    }
}

/// The job was taken and is durable.
package struct Submitted: MessageBody {
    package static let type = "submitted"
    package var request: Int
    package var job: String

    package init(request: Int, job: String) {
        self.request = request
        self.job = job
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        guard LeaseName.isValidJob(job) else { throw .malformed("job is not a job id.") }
    }
}

/// The order was carried out.
package struct Done: MessageBody {
    package static let type = "done"
    package var request: Int
    /// What whoever asked should know about it.
    package var note: String?

    package init(request: Int, note: String? = nil) {
        self.request = request
        self.note = note
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try Bounds.text(note ?? "", "note")
    }
}

/// The request was refused or did not work.
package struct RequestFailed: MessageBody {
    package static let type = "failure"
    package var request: Int
    package var failure: Failure

    package init(request: Int, failure: Failure) {
        self.request = request
        self.failure = failure.bounded()
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try failure.check()
    }
}

/// A value that replies carry in lists.
package protocol ReportRow: Hashable, Sendable, Codable {
    /// The reply type of a list of these.
    static var listType: String { get }
}

/// Part of a list, or all of it.
package struct Rows<Row: ReportRow>: MessageBody {
    package static var type: String { Row.listType }
    package var request: Int
    package var rows: [Row]
    /// Another reply to the same request follows.
    package var more: Bool

    package init(request: Int, rows: [Row], more: Bool = false) {
        self.request = request
        self.rows = rows
        self.more = more
    }

    /// The list cut into replies of at most `size` rows, at least one reply.
    package static func pages(request: Int, rows: [Row], size: Int = 256) -> [Rows<Row>] {
        guard !rows.isEmpty else { return [Rows(request: request, rows: [])] }
        return stride(from: 0, to: rows.count, by: max(1, size)).map { start in
            let end = min(rows.count, start + max(1, size))
            return Rows(request: request, rows: Array(rows[start..<end]), more: end < rows.count)
        }
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try Bounds.count(rows.count, "rows", atMost: ProtocolLimits.rows)
    }
}
