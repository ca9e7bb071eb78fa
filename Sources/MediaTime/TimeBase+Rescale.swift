extension TimeBase {
    /// The number of `other`'s ticks that last as long as `ticks` of this time base.
    ///
    /// - Throws: `.overflow`.
    public func rescale(
        _ ticks: Int64, to other: TimeBase, rounding: TimeRounding = .halfAwayFromZero
    ) throws(MediaTimeError) -> Int64 {
        try quotient(ticks, in: other, rounding: rounding).ticks
    }

    /// As ``rescale(_:to:rounding:)``, but never between two ticks.
    ///
    /// - Throws: `.inexact`, `.overflow`.
    public func rescale(_ ticks: Int64, exactlyTo other: TimeBase) throws(MediaTimeError) -> Int64 {
        let quotient = try quotient(ticks, in: other, rounding: .towardZero)
        guard quotient.isExact else { throw .inexact }
        return quotient.ticks
    }

    /// Whether every tick of this time base falls on a tick of the other.
    public func isExact(in other: TimeBase) -> Bool {
        (Int64(numerator) * Int64(other.denominator)) % (Int64(denominator) * Int64(other.numerator)) == 0
    }

    private func quotient(
        _ ticks: Int64, in other: TimeBase, rounding: TimeRounding
    ) throws(MediaTimeError) -> (ticks: Int64, isExact: Bool) {
        if self == other { return (ticks, true) }
        // 63 + 31 + 31 bits over 31 + 31 bits.
        let factor = Int128(numerator) * Int128(other.denominator)
        let divisor = Int128(denominator) * Int128(other.numerator)
        let quotient = rounding.quotient(of: Int128(ticks) * factor, by: divisor, toFiner: factor > divisor)
        guard let result = Int64(exactly: quotient.value) else { throw .overflow }
        return (result, quotient.isExact)
    }
}
