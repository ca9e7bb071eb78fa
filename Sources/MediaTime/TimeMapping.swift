/// A source range shown over a target range, faster or slower where their durations differ: one entry of an edit list
/// (ISO/IEC 14496-12 §8.6.6). JSON: `{"source": …, "target": …}`, without `source` for an empty edit.
public struct TimeMapping: Hashable, Sendable, Codable {
    /// `nil` for an empty edit: the target shows nothing. An empty range is a dwell: one picture over the whole target.
    public let source: TimeRange?
    public let target: TimeRange

    public init(source: TimeRange, target: TimeRange) {
        self.source = source
        self.target = target
    }

    /// Nothing is shown over `target`.
    public init(emptyOver target: TimeRange) {
        source = nil
        self.target = target
    }

    public var isEmptyEdit: Bool { source == nil }

    /// Whether source and target run at the same speed.
    public var isUnscaled: Bool { source?.duration == target.duration }

    /// The target time at which `time` of the source is shown: source start → target start, source end → target end,
    /// in a straight line between and beyond. Exact where a time can hold it, else rounded and marked.
    ///
    /// Every time of a dwell maps to the target's start.
    ///
    /// - Throws: `.emptyMapping`; `.notNumeric` for special times, and for an infinite or indefinite duration not
    ///   mapped onto its like; `.differentEpochs` where `time` is not in the source's epoch; `.overflow`, `.inexact`.
    public func map(_ time: MediaTime) throws(MediaTimeError) -> MediaTime {
        guard let source else { throw .emptyMapping }
        return try TimeMapping.map(time, from: source, to: target)
    }

    /// The source time that is shown at `time` of the target: the inverse of ``map(_:)``.
    public func sourceTime(at time: MediaTime) throws(MediaTimeError) -> MediaTime {
        guard let source else { throw .emptyMapping }
        return try TimeMapping.map(time, from: target, to: source)
    }

    private static func map(
        _ time: MediaTime, from: TimeRange, to: TimeRange
    ) throws(MediaTimeError) -> MediaTime {
        guard time.isNumeric else { throw .notNumeric }
        guard time.epoch == from.epoch else { throw .differentEpochs }
        let offset = try time.subtracting(from.start)
        if from.duration == to.duration { return try to.start.adding(offset) }
        guard from.duration.isNumeric, to.duration.isNumeric else { throw .notNumeric }
        guard !from.isEmpty else { return to.start }
        return try to.start.adding(scaled(offset, by: to.duration, over: from.duration))
    }

    /// `offset × (numerator ÷ denominator)`. Cross-reduction keeps what real media give far within 128 bits.
    private static func scaled(
        _ offset: MediaTime, by numerator: MediaTime, over denominator: MediaTime
    ) throws(MediaTimeError) -> MediaTime {
        var top = [Int128(offset.value), Int128(numerator.value), Int128(denominator.timescale)]
        var bottom = [Int128(offset.timescale), Int128(numerator.timescale), Int128(denominator.value)]
        for above in top.indices {
            for below in bottom.indices {
                let divisor = Int128(greatestCommonDivisor(top[above].magnitude, bottom[below].magnitude))
                top[above] /= divisor
                bottom[below] /= divisor
            }
        }
        let isRounded = offset.hasBeenRounded || numerator.hasBeenRounded || denominator.hasBeenRounded
        return try .nearest(
            product(of: top), over: product(of: bottom), epoch: 0, isRounded: isRounded, rounding: .halfAwayFromZero)
    }

    private static func product(of factors: [Int128]) throws(MediaTimeError) -> Int128 {
        var result: Int128 = 1
        for factor in factors {
            let (product, overflow) = result.multipliedReportingOverflow(by: factor)
            guard !overflow else { throw .overflow }
            result = product
        }
        return result
    }
}
