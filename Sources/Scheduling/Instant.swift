/// A point on a monotonic clock, in nanoseconds from an origin that only its owner knows. The scheduler compares and adds
/// instants and never asks for the time, so that production and simulation run the same code.
package struct Instant: Hashable, Comparable, Sendable, Codable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static let zero = Instant(nanoseconds: 0)
    /// Later than every instant that can happen: "until somebody changes it".
    package static let never = Instant(nanoseconds: .max)

    package static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Saturates instead of trapping: an interval may come from a configuration file.
    package static func + (a: Instant, b: Interval) -> Instant {
        let (sum, overflow) = a.nanoseconds.addingReportingOverflow(b.nanoseconds)
        return Instant(nanoseconds: overflow ? (b.nanoseconds < 0 ? .min : .max) : sum)
    }

    package static func - (a: Instant, b: Instant) -> Interval {
        let (difference, overflow) = a.nanoseconds.subtractingReportingOverflow(b.nanoseconds)
        return Interval(nanoseconds: overflow ? (b.nanoseconds < 0 ? .max : .min) : difference)
    }

    /// For predictions and reports only; decisions about deadlines use the exact nanoseconds.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    package init(seconds: Double) {
        self.nanoseconds = Interval(seconds: seconds).nanoseconds
    }
}

/// A length of monotonic time in nanoseconds.
package struct Interval: Hashable, Comparable, Sendable, Codable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Rounded to the nearest nanosecond, limited to what fits (± 292 years); not-a-number becomes zero.
    package init(seconds: Double) {
        let scaled = (seconds * 1e9).rounded()
        if scaled.isNaN {
            self.nanoseconds = 0
        } else if scaled >= 0x1p63 {
            self.nanoseconds = .max
        } else if scaled < -0x1p63 {
            self.nanoseconds = .min
        } else {
            self.nanoseconds = Int64(scaled)
        }
    }

    package static let zero = Interval(nanoseconds: 0)

    package static func < (a: Interval, b: Interval) -> Bool { a.nanoseconds < b.nanoseconds }

    package var seconds: Double { Double(nanoseconds) / 1e9 }
}
