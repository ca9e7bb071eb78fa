package import Scheduling

/// For how long, and up to which size, the spools of jobs that are over are kept, so that single segments can be rerun or looked at.
///
/// A spool of a job at work is never cleaned, whatever its size, nor is that of a failed job within its time: `weft retry` needs it.
package struct SpoolPolicy: Hashable, Sendable {
    /// Seconds after the end of a done or cancelled job; infinite for no end.
    package var keepSeconds: Double
    /// Seconds after the end of a failed job.
    package var keepFailedSeconds: Double
    /// Bytes of all spools together; beyond it done jobs' go before their time, then cancelled ones', those that ended first before others.
    package var limit: Int64?

    package init(keepSeconds: Double = 86_400, keepFailedSeconds: Double = 30 * 86_400, limit: Int64? = nil) {
        self.keepSeconds = keepSeconds
        self.keepFailedSeconds = keepFailedSeconds
        self.limit = limit
    }

    /// A job and what its spool holds.
    package struct Holding: Sendable {
        package var job: JobID
        /// `nil` while it is not over, or about to run again.
        package var end: (state: JobState, time: Int64)?
        package var bytes: Int64

        package init(job: JobID, end: (state: JobState, time: Int64)?, bytes: Int64) {
            self.job = job
            self.end = end
            self.bytes = bytes
        }
    }

    /// What is cleaned now, and why.
    package struct Decision: Hashable, Sendable {
        package var outdated: [JobID] = []
        package var oversize: [JobID] = []
        /// Bytes above the limit that may not be cleaned.
        package var excess: Int64 = 0
    }

    /// - Parameter now: milliseconds since 1970, as the ends of the jobs are.
    package func decide(_ holdings: [Holding], now: Int64) -> Decision {
        var decision = Decision()
        var kept: [Holding] = []
        for holding in holdings where holding.bytes > 0 {
            if isOutdated(holding, now) { decision.outdated.append(holding.job) } else { kept.append(holding) }
        }
        guard let limit else { return decision }
        var total = kept.reduce(Int64(0)) { $0 + $1.bytes }
        for holding in kept.filter(\.mayGoEarly).sorted(by: Holding.goesFirst) where total > limit {
            decision.oversize.append(holding.job)
            total -= holding.bytes
        }
        decision.excess = max(0, total - limit)
        return decision
    }

    private func isOutdated(_ holding: Holding, _ now: Int64) -> Bool {
        guard let end = holding.end else { return false }
        let seconds = end.state == .failed ? keepFailedSeconds : keepSeconds
        return Double(now - end.time) / 1000 >= seconds
    }
}

extension SpoolPolicy.Holding {
    fileprivate var mayGoEarly: Bool { end?.state == .finished || end?.state == .cancelled }

    fileprivate static func goesFirst(_ a: Self, _ b: Self) -> Bool {
        guard let (left, right) = a.end.flatMap({ end in b.end.map { (end, $0) } }) else { return false }
        if left.state != right.state { return left.state == .finished }
        return (left.time, a.job.text) < (right.time, b.job.text)
    }
}
