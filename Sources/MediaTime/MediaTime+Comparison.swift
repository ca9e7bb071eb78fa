extension MediaTime: Comparable, Hashable {
    public enum Ordering: Int, Hashable, Sendable {
        case ascending = -1
        case same = 0
        case descending = 1
    }

    /// A total order, so that any list of times can be sorted:
    /// −∞ < every number < indefinite < +∞ < invalid.
    ///
    /// A number in a higher epoch comes after every number in a lower one. Within an epoch numbers compare exactly,
    /// whatever their timescales. Whether a time has been rounded does not matter.
    public static func compare(_ first: MediaTime, _ second: MediaTime) -> Ordering {
        guard first.isNumeric, second.isNumeric else { return ordering(first.rank, second.rank) }
        if first.epoch != second.epoch { return ordering(first.epoch, second.epoch) }
        if first.timescale == second.timescale { return ordering(first.value, second.value) }
        // 63 + 31 bits: cannot overflow.
        return ordering(
            Int128(first.value) * Int128(second.timescale), Int128(second.value) * Int128(first.timescale))
    }

    public static func == (first: MediaTime, second: MediaTime) -> Bool { compare(first, second) == .same }
    public static func < (first: MediaTime, second: MediaTime) -> Bool { compare(first, second) == .ascending }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        guard isNumeric else { return }
        let reduced = self.reduced
        hasher.combine(reduced.value)
        hasher.combine(reduced.timescale)
        hasher.combine(epoch)
    }

    /// The same time with the smallest timescale that holds it.
    public var reduced: MediaTime {
        guard isNumeric else { return self }
        // The divisor is at most the timescale, and at least 1.
        let divisor = greatestCommonDivisor(value.magnitude, UInt64(timescale))
        return MediaTime(
            value: value / Int64(divisor), timescale: timescale / Int32(divisor), epoch: epoch,
            isRounded: hasBeenRounded)
    }

    private var rank: Int {
        if isNumeric { return 1 }
        if isNegativeInfinity { return 0 }
        if isIndefinite { return 2 }
        return isPositiveInfinity ? 3 : 4
    }

    private static func ordering<T: Comparable>(_ first: T, _ second: T) -> Ordering {
        first < second ? .ascending : first == second ? .same : .descending
    }
}
