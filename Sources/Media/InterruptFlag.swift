internal import Synchronization

/// Stops libavformat's blocking input and output from another thread.
///
/// libavformat asks its interrupt callback while it waits; this is the atomic flag and the deadline behind that callback (`InputWatch`).
/// One flag may serve several demuxers: interrupting it stops all of them.
package final class InterruptFlag: Sendable {
    private let raised = Atomic<Bool>(false)
    /// Nanoseconds on the monotonic clock since `origin`; 0 means no deadline.
    private let deadline = Atomic<Int64>(0)
    private let origin = ContinuousClock.now

    package init() {}

    /// Makes every blocking call under this flag return with reason `.cancelled`. For good.
    package func interrupt() { raised.store(true, ordering: .releasing) }

    package var isInterrupted: Bool { raised.load(ordering: .acquiring) }

    /// Calls that are still blocked `limit` from now return with reason `.timedOut`; `nil` takes the deadline away.
    package func setDeadline(in limit: Duration?) {
        guard let limit else { return deadline.store(0, ordering: .releasing) }
        deadline.store(max(1, Self.nanoseconds(ContinuousClock.now - origin + limit)), ordering: .releasing)
    }

    package var isPastDeadline: Bool {
        let deadline = deadline.load(ordering: .acquiring)
        return deadline != 0 && Self.nanoseconds(ContinuousClock.now - origin) >= deadline
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
    }
}
