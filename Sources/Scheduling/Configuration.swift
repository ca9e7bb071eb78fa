/// What the operator can tune; the defaults suit segments of seconds to minutes.
package struct Configuration: Hashable, Sendable, Codable {
    /// Failures in a row (successes count them down again) before a node is quarantined for an encoder.
    package var strikesBeforeQuarantine = 3
    /// The first quarantine; each one that follows without a success between is twice as long.
    package var firstQuarantine = Interval(seconds: 2)
    package var longestQuarantine = Interval(seconds: 3600)
    /// Quarantines in a row after which the node stays out until an operator releases it.
    package var quarantinesBeforeExile = 12
    /// How long after a restart a segment waits for the slot that was working on it.
    package var reattachGrace = Interval(seconds: 20)
    /// First and longest time that a job holds after its results could not be stored.
    package var firstHold = Interval(seconds: 2)
    package var longestHold = Interval(seconds: 60)
    /// Attempts remembered for each segment; older ones leave the report.
    package var attemptsKept = 32

    package init() {}
}
