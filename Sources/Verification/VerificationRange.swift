package import MediaTime

/// The part of a source that an output is to hold: from the film's first picture on.
package struct VerificationRange: Sendable, Hashable {
    package var start: MediaTime?
    /// Exclusive.
    package var end: MediaTime?

    package init(start: MediaTime? = nil, end: MediaTime? = nil) {
        self.start = start
        self.end = end
    }

    package var isWhole: Bool { start == nil && end == nil }
}
