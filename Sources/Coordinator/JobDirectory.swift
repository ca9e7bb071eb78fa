internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Scheduling
internal import Stitching

/// Where one export keeps what it has finished: `STATE/exports/ID` with the job store, the spool, and a note of what lies
/// elsewhere while it runs.
struct JobDirectory {
    let path: String
    let store: JobStore
    let spool: Spool
    /// Accepted segments of an earlier run, with their frames and bytes, that are still whole.
    let finished: [Int: AcceptedSegment]
    let firstLease: UInt64
    /// What the user should know about the work that was found here.
    let notices: [String]
    let traces: Traces

    /// - Parameter resume: keep what an earlier run has finished.
    init(_ plan: PlannedExport, order: ExportOrder, resume: Bool) throws(Failure) {
        let path = Self.parent(order) + "/" + plan.id
        let isNew = access(path, F_OK) != 0
        do throws(Failure) {
            self = try Self(opening: path, plan, order: order, resume: resume)
        } catch {
            // Another process may have made it in this instant, and holds it.
            if isNew, error.exitCode != .temporary { try? FileManager.default.removeItem(atPath: path) }
            throw error
        }
    }

    private init(opening path: String, _ plan: PlannedExport, order: ExportOrder, resume: Bool) throws(Failure) {
        self.path = path
        spool = try Spool(directory: path + "/spool")
        store = try Self.openStore(path + "/jobs.db", order, resume: resume)
        // From here on this process alone has the directory.
        traces = Traces(path: path + "/traces")
        traces.clean()
        let id = JobID(plan.id)
        do throws(JobStoreError) {
            let isKnown = try store.job(id) != nil
            var dropped = 0
            if isKnown, !resume {
                dropped = try store.progress(of: id).finished.count
                try store.deleteJob(id)
            }
            let keeps = isKnown && resume
            spool.clean(keepsSegments: keeps)
            if keeps {
                (finished, notices) = try Self.intactSegments(of: id, store: store, spool: spool)
            } else {
                try store.createJob(
                    JobRecord(
                        id: id, state: .running, destination: order.destination, settings: try JSONText(order.settings),
                        source: try JSONText(plan.source), plan: try JSONText(plan.segments),
                        segmentCount: plan.segments.count, created: Clock.wall))
                finished = [:]
                notices =
                    resume
                    ? ["There is no unfinished work of this source with these settings; starting from the beginning."]
                    : dropped > 0
                        ? [
                            "Starting anew: \(dropped) finished segments of an earlier run are dropped; --resume keeps them."
                        ]
                        : []
            }
            firstLease = try store.reserveLeases(1 << 20).lowerBound
        } catch {
            throw error.failureOfExport
        }
    }

    /// Refuses a state directory that cannot be written to, before a long plan is made for it.
    static func check(_ order: ExportOrder) throws(Failure) {
        let parent = parent(order)
        _ = try Spool(directory: parent)
        guard access(parent, W_OK | X_OK) == 0 else {
            throw Failure(
                .storage, "Cannot write to the state directory \(parent): \(String(cString: strerror(errno))).",
                advice: "Choose another --state directory.", fault: .environment, code: errno, exitCode: .cannotCreate)
        }
    }

    private static func parent(_ order: ExportOrder) -> String { order.stateDirectory + "/exports" }

    /// A damaged store says nothing about the spool that could be believed: a new run begins anew, `--resume` tells.
    private static func openStore(_ path: String, _ order: ExportOrder, resume: Bool) throws(Failure) -> JobStore {
        do throws(JobStoreError) {
            return try JobStore(at: path, busyTimeout: 200)
        } catch {
            switch error.kind {
            case .busy: throw busy(order)
            case .corrupt, .notADatabase, .foreign, .malformed:
                guard !resume else { throw damaged(error, path) }
            default: throw error.failureOfExport
            }
        }
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
        do throws(JobStoreError) {
            return try JobStore(at: path, busyTimeout: 200)
        } catch {
            throw error.failureOfExport
        }
    }

    private static func busy(_ order: ExportOrder) -> Failure {
        Failure(
            .resources, "Another process is exporting \(order.source) to \(order.destination) with the same settings.",
            advice: "Wait for it, or stop it first.", retry: .retry, fault: .environment, exitCode: .temporary)
    }

    private static func damaged(_ error: JobStoreError, _ path: String) -> Failure {
        Failure(
            .storage, "The record of the finished segments, \(path), is damaged: \(error.message).",
            advice: "Run the command without --resume: it starts from the beginning.", fault: .environment,
            code: error.code, exitCode: .ioError)
    }

    /// A done list that lies is worse than none: every file is held against its hash; what is missing or altered runs again.
    private static func intactSegments(
        of id: JobID, store: JobStore, spool: Spool
    ) throws(JobStoreError) -> ([Int: AcceptedSegment], [String]) {
        var intact: [Int: AcceptedSegment] = [:]
        var broken: [Int] = []
        let segments = try store.segments(of: id)
        for record in segments {
            guard case .finished(let segment) = record else { continue }
            if SpooledSegment.isIntact(path: spool.path(ofSegment: segment.index), hash: segment.hash) {
                intact[segment.index] = segment
            } else {
                broken.append(segment.index)
            }
        }
        var notices = ["Going on: \(intact.count) of \(segments.count) segments are done."]
        if !broken.isEmpty {
            _ = try store.reopenSegments(broken, of: id)
            let list = broken.prefix(8).map(String.init).joined(separator: ", ") + (broken.count > 8 ? ", …" : "")
            notices.append("Finished segments that are missing or altered in the spool run again: \(list).")
        }
        return (intact, notices)
    }

    /// Nothing stays of a finished export.
    func remove() {
        spool.remove()
        try? FileManager.default.removeItem(atPath: path)
    }
}

extension JobStoreError {
    /// In an export the store is part of its unfinished work: what holds for the spool's files holds for it.
    var failureOfExport: Failure {
        var failure = failure
        if kind == .diskFull {
            failure.exitCode = .cannotCreate
            failure.advice = "Free some space and run the same command with --resume."
        }
        return failure
    }
}
