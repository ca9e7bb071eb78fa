internal import MediaTime

/// The wanted and the least length of a segment in ticks. What exceeds 64 bits is as good as the largest number.
struct SegmentLengths {
    /// At least `minimum`.
    let target: Int64
    /// At least 1.
    let minimum: Int64
    let isTargetRaised: Bool

    init(target: MediaTime, minimum: MediaTime, timeBase: TimeBase) throws(SegmentPlanError) {
        guard target.isPositiveInfinity || (target.isNumeric && target.value > 0) else { throw .invalidTarget }
        guard minimum.isNumeric, minimum.value >= 0 else { throw .invalidMinimum }
        self.minimum = max(1, SegmentLengths.ticks(minimum, in: timeBase, rounding: .up))
        self.target = max(
            self.minimum, SegmentLengths.ticks(target, in: timeBase, rounding: .halfAwayFromZero))
        isTargetRaised = target < minimum
    }

    private static func ticks(_ length: MediaTime, in timeBase: TimeBase, rounding: TimeRounding) -> Int64 {
        (try? length.ticks(in: timeBase, rounding: rounding)) ?? .max
    }

    /// Twice the target: beyond it a segment counts as long.
    var long: Int128 { 2 * Int128(target) }
}
