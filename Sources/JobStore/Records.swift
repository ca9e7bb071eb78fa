internal import Foundation
package import ClusterProtocol
package import Scheduling

/// A value that the store keeps as JSON text and does not look into. Keys are sorted, so equal values are equal texts.
package struct JSONText: Hashable, Sendable {
    package var text: String

    package init(text: String) {
        self.text = text
    }

    package init<Value: Encodable>(_ value: Value) throws(JobStoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            self.text = String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw JobStoreError(.malformed, "\(error)", context: "writing a \(Value.self) as JSON")
        }
    }

    package func decoded<Value: Decodable>(as type: Value.Type) throws(JobStoreError) -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            return try decoder.decode(type, from: Data(text.utf8))
        } catch {
            throw JobStoreError(.malformed, "\(error)", context: "reading a \(Value.self) from the job store")
        }
    }
}

/// A job as it is kept. Times are milliseconds since 1970 in UTC, given by the caller: the store has no clock.
package struct JobRecord: Hashable, Sendable {
    package var id: JobID
    package var state: JobState
    package var priority: Int
    package var destination: String
    /// `ExportSettings`, the resolved source and the plan, as their owner writes them.
    package var settings: JSONText
    package var source: JSONText
    package var plan: JSONText
    package var segmentCount: Int
    /// The failure that the job as a whole ended with.
    package var failure: Failure?
    /// `JobReport` of a job that is over, or about to be.
    package var report: JSONText?
    package var created: Int64
    package var updated: Int64

    package init(
        id: JobID, state: JobState = .waiting, priority: Int = 0, destination: String, settings: JSONText,
        source: JSONText, plan: JSONText, segmentCount: Int, failure: Failure? = nil, created: Int64
    ) {
        self.id = id
        self.state = state
        self.priority = priority
        self.destination = destination
        self.settings = settings
        self.source = source
        self.plan = plan
        self.segmentCount = segmentCount
        self.failure = failure
        self.created = created
        self.updated = created
    }
}

/// The result of a segment whose bytes are durable in the spool.
package struct AcceptedSegment: Hashable, Sendable {
    package var index: Int
    package var lease: LeaseID
    package var worker: WorkerID
    /// Name of the file in the job's spool directory.
    package var spoolFile: String
    package var bytes: Int64
    package var hash: String
    package var frames: Int
    package var encodeSeconds: Double
    /// Whatever else the stitcher and the report need of it.
    package var detail: JSONText?
    /// Its bytes were removed from the spool to free the space. The segment stays done.
    package var isCleaned = false

    package init(
        index: Int, lease: LeaseID, worker: WorkerID, spoolFile: String, bytes: Int64, hash: String, frames: Int,
        encodeSeconds: Double, detail: JSONText? = nil
    ) {
        self.index = index
        self.lease = lease
        self.worker = worker
        self.spoolFile = spoolFile
        self.bytes = bytes
        self.hash = hash
        self.frames = frames
        self.encodeSeconds = encodeSeconds
        self.detail = detail
    }
}

/// What a job's spool holds.
package struct SpoolUse: Hashable, Sendable {
    /// Sample bytes of its accepted segments.
    package var bytes: Int64
    /// Accepted segments whose bytes were removed.
    package var cleaned: Int

    package init(bytes: Int64, cleaned: Int) {
        self.bytes = bytes
        self.cleaned = cleaned
    }
}

package enum SegmentRecord: Hashable, Sendable {
    case pending(index: Int)
    case finished(AcceptedSegment)
    case failed(index: Int, Failure)

    package var index: Int {
        switch self {
        case .pending(let index), .failed(let index, _): index
        case .finished(let accepted): accepted.index
        }
    }
}

/// One attempt, from its grant on.
package struct LeaseRecord: Hashable, Sendable {
    package var lease: LeaseID
    package var job: JobID
    package var segment: Int
    package var worker: WorkerID
    package var state: AttemptState
    package var failure: Failure?
    package var frames: Int
    package var granted: Int64
    package var ended: Int64?

    package init(
        lease: LeaseID, job: JobID, segment: Int, worker: WorkerID, state: AttemptState = .running,
        failure: Failure? = nil, frames: Int = 0, granted: Int64, ended: Int64? = nil
    ) {
        self.lease = lease
        self.job = job
        self.segment = segment
        self.worker = worker
        self.state = state
        self.failure = failure
        self.frames = frames
        self.granted = granted
        self.ended = ended
    }
}

package struct WorkerRecord: Hashable, Sendable {
    package var node: String
    package var slot: Int
    package var incarnation: UInt64
    package var lastSeen: Int64
    /// Capabilities, versions, learned speeds: as the owner writes them.
    package var detail: JSONText

    package init(node: String, slot: Int, incarnation: UInt64, lastSeen: Int64, detail: JSONText) {
        self.node = node
        self.slot = slot
        self.incarnation = incarnation
        self.lastSeen = lastSeen
        self.detail = detail
    }
}

package struct EventRecord: Hashable, Sendable {
    /// Rises with every event, also over restarts.
    package var sequence: Int64
    package var time: Int64
    package var job: JobID?
    package var kind: String
    package var detail: JSONText
}
