internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Scheduling

/// Spools that go when their time is over or the space is needed.
extension ClientDesk {
    func cleanSpools() {
        let ends = jobs.mapValues { job -> (state: JobState, time: Int64)? in
            guard case .over(let state) = job.phase, !reopening.contains(job.id) else { return nil }
            return (state, job.ended ?? job.created)
        }
        let (store, link, policy, folder) = (handler.store, handler.link, spools, directory + "/jobs")
        let desk = DeskReference(self)
        // One after another with whatever reopens a job: that sees all of it cleaned, or none.
        handler.storage.perform {
            guard let uses = try? store.use({ (store) throws(JobStoreError) in try store.spools() }) else { return }
            let holdings = ends.map { SpoolPolicy.Holding(job: $0, end: $1, bytes: uses[$0]?.bytes ?? 0) }
            let decision = policy.decide(holdings, now: Clock.wall)
            for id in decision.outdated + decision.oversize {
                // The rows go first: a file without a row is clean-up, a row without its file is a loss.
                let done = try? store.use { (store) throws(JobStoreError) in try store.cleanSegments(of: id) }
                if done != nil { SpoolRemoval.begin(id, in: folder) }
            }
            // What a crash left between the two.
            for (id, end) in ends where end != nil && uses[id]?.bytes ?? 0 == 0 { SpoolRemoval.begin(id, in: folder) }
            link.perform { _ in desk.value?.cleaned(decision, uses.mapValues(\.bytes)) }
        }
    }

    private func cleaned(_ decision: SpoolPolicy.Decision, _ bytes: [JobID: Int64]) {
        for (ids, reason) in [
            (decision.outdated, "its time is over"), (decision.oversize, "all spools together were above the limit"),
        ] {
            for id in ids {
                let size = Self.size(bytes[id] ?? 0)
                log.note("spool_cleaned", job: id, "\(size) were freed: \(reason). The segments stay done.")
            }
        }
        let isAbove = decision.excess > 0
        defer { isAboveLimit = isAbove }
        guard isAbove, !isAboveLimit else { return }
        log.note(
            "spool_above_limit",
            "Spools hold \(Self.size(decision.excess)) more than the limit, for jobs that are at work or have failed.")
    }

    private static func size(_ bytes: Int64) -> String {
        bytes < 1_000_000 ? "\(bytes) bytes" : "\(bytes / 1_000_000) MB"
    }
}

/// Takes the directory of a job away. Thousands of files take seconds, which nobody should have to wait for.
enum SpoolRemoval {
    /// The name is free when this returns.
    static func begin(_ id: JobID, in folder: String) {
        let path = folder + "/" + id.text
        guard access(path, F_OK) == 0 else { return }
        let aside = folder + "/" + mark + id.text + "-" + String(Clock.now, radix: 36)
        guard rename(path, aside) == 0 else {
            try? FileManager.default.removeItem(atPath: path)
            return
        }
        Thread.detachNewThread { try? FileManager.default.removeItem(atPath: aside) }
    }

    /// No job's id begins like this.
    private static let mark = ".cleaned-"

    /// Goes on with what the coordinator's last end has cut off.
    static func finish(in folder: String) {
        Thread.detachNewThread {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            for name in names where name.hasPrefix(mark) {
                try? FileManager.default.removeItem(atPath: folder + "/" + name)
            }
        }
    }
}
