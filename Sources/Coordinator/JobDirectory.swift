internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Scheduling
internal import Stitching

/// Where one export keeps what it has finished: `STATE/exports/ID` with the job store and the spool.
struct JobDirectory {
    let path: String
    let store: JobStore
    let spool: Spool
    /// Accepted segments of an earlier run, with their frames and bytes, that are still whole.
    let finished: [Int: AcceptedSegment]
    let firstLease: UInt64

    /// - Parameter resume: keep what an earlier run has finished.
    init(_ plan: PlannedExport, order: ExportOrder, resume: Bool) throws(Failure) {
        path = order.stateDirectory + "/exports/" + plan.id
        spool = try Spool(directory: path + "/spool")
        do throws(JobStoreError) {
            store = try JobStore(at: path + "/jobs.db", busyTimeout: 200)
        } catch {
            throw error.kind == .busy ? Self.busy(order) : error.failure
        }
        let id = JobID(plan.id)
        do throws(JobStoreError) {
            let known = try store.job(id)
            if known != nil, !resume { try store.deleteJob(id) }
            if known == nil || !resume {
                try store.createJob(
                    JobRecord(
                        id: id, state: .running, destination: order.destination, settings: try JSONText(order.settings),
                        source: try JSONText(plan.source), plan: try JSONText(plan.segments),
                        segmentCount: plan.segments.count, created: Clock.wall))
                finished = [:]
            } else {
                finished = try Self.intactSegments(of: id, store: store, spool: spool)
            }
            firstLease = try store.reserveLeases(1 << 20).lowerBound
        } catch {
            throw error.failure
        }
    }

    private static func busy(_ order: ExportOrder) -> Failure {
        Failure(
            .resources, "Another process is exporting \(order.source) to \(order.destination) with the same settings.",
            advice: "Wait for it, or stop it first.", retry: .retry, fault: .environment, exitCode: .temporary)
    }

    /// A done list that lies is worse than none: every file is held against its hash; what is missing or altered runs again.
    private static func intactSegments(
        of id: JobID, store: JobStore, spool: Spool
    ) throws(JobStoreError) -> [Int: AcceptedSegment] {
        var intact: [Int: AcceptedSegment] = [:]
        var broken: [Int] = []
        for record in try store.segments(of: id) {
            guard case .finished(let segment) = record else { continue }
            if SpooledSegment.isIntact(path: spool.path(ofSegment: segment.index), hash: segment.hash) {
                intact[segment.index] = segment
            } else {
                broken.append(segment.index)
            }
        }
        if !broken.isEmpty { _ = try store.reopenSegments(broken, of: id) }
        return intact
    }

    /// Nothing stays of a finished export.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
