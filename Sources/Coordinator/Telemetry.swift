internal import ClusterProtocol
internal import Synchronization

/// What can be seen of a running export from outside the coordinator's thread.
package struct ExportSnapshot: Sendable, Hashable {
    package var framesDone = 0
    package var framesExpected = 0
    /// Nothing counted them beforehand.
    package var isEstimate = false
    /// Ticks of the picture track covered so far, and in all.
    package var secondsDone = 0.0
    package var secondsTotal = 0.0
    package var segmentsDone = 0
    package var segmentsTotal = 0
    /// Segments that are in the output file.
    package var segmentsStitched = 0
    package var slotsBusy = 0
    package var slotsTotal = 0
    package var bytes: Int64 = 0
    /// Seconds until the last segment is predicted to be done; `nil` when nothing runs.
    package var remaining: Double?

    package init() {}
}

/// Shared between the coordinator's thread, which writes, and the one that shows.
final class Telemetry: Sendable {
    private let state = Mutex<ExportSnapshot>(ExportSnapshot())
    private let notices = Mutex<[String]>([])
    private let repaired = Mutex<[String]>([])
    private let summary = Mutex<LeaseSummary>(LeaseSummary())

    var snapshot: ExportSnapshot { state.withLock { $0 } }

    func publish(_ snapshot: ExportSnapshot) { state.withLock { $0 = snapshot } }

    func notice(_ text: String) { notices.withLock { $0.append(text) } }

    /// Something broke and was mended: worth reading now, and in the report.
    func repair(_ text: String) {
        notice(text)
        repaired.withLock { $0.append(text) }
    }

    var repairs: [String] { repaired.withLock { $0 } }

    /// What was noticed since the last call.
    func takeNotices() -> [String] {
        notices.withLock { notices in
            defer { notices.removeAll() }
            return notices
        }
    }

    func publish(_ fresh: LeaseSummary) { summary.withLock { $0 = fresh } }
    var leases: LeaseSummary { summary.withLock { $0 } }
}

/// The account of a job's attempts.
struct LeaseSummary: Sendable, Hashable {
    var attempts = 0
    var encodeSeconds = 0.0
    var stages = StageSeconds()
    var warnings: [String] = []
    /// Slots that have finished a segment.
    var workers = 0
    /// How each node that took part gets the source.
    var sourceAccess: [String: Lease.Access] = [:]
    var checks: JobReport.Checks?
}
