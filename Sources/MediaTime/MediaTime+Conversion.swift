extension MediaTime {
    /// The same time in ticks of another timescale. Rounding is marked in ``hasBeenRounded``; special values stay as
    /// they are.
    ///
    /// - Parameter timescale: Ticks a second, positive.
    /// - Throws: `.invalidTimescale`, `.overflow` (where Core Media would give infinity).
    public func converted(
        toTimescale timescale: Int32, rounding: TimeRounding = .halfAwayFromZero
    ) throws(MediaTimeError) -> MediaTime {
        guard timescale > 0 else { throw .invalidTimescale }
        guard isNumeric, timescale != self.timescale else { return self }
        let ticks = rounding.quotient(
            of: Int128(value) * Int128(timescale), by: Int128(self.timescale), toFiner: timescale > self.timescale)
        guard let value = Int64(exactly: ticks.value) else { throw .overflow }
        return MediaTime(
            value: value, timescale: timescale, epoch: epoch, isRounded: hasBeenRounded || !ticks.isExact)
    }

    /// `ticks × timeBase`, exactly: the timescale is the time base's denominator where the value fits.
    ///
    /// libav's `AV_NOPTS_VALUE` is no number of ticks: an adapter turns it into `nil` before it comes here.
    ///
    /// - Throws: `.overflow`.
    public init(ticks: Int64, in timeBase: TimeBase, epoch: Int64 = 0) throws(MediaTimeError) {
        self = try .exactly(
            Int128(ticks) * Int128(timeBase.numerator), over: Int128(timeBase.denominator), epoch: epoch,
            isRounded: false)
    }

    /// The time in ticks of a time base; the epoch plays no part.
    ///
    /// - Throws: `.notNumeric`, `.overflow`.
    public func ticks(
        in timeBase: TimeBase, rounding: TimeRounding = .halfAwayFromZero
    ) throws(MediaTimeError) -> Int64 {
        try quotient(in: timeBase, rounding: rounding).ticks
    }

    /// The time in ticks of a time base that must hold it exactly.
    ///
    /// - Throws: `.inexact` where it falls between two ticks, `.notNumeric`, `.overflow`.
    public func ticks(exactlyIn timeBase: TimeBase) throws(MediaTimeError) -> Int64 {
        let quotient = try quotient(in: timeBase, rounding: .towardZero)
        guard quotient.isExact else { throw .inexact }
        return quotient.ticks
    }

    private func quotient(
        in timeBase: TimeBase, rounding: TimeRounding
    ) throws(MediaTimeError) -> (ticks: Int64, isExact: Bool) {
        guard isNumeric else { throw .notNumeric }
        // 63 + 31 bits over 31 + 31 bits.
        let divisor = Int128(timescale) * Int128(timeBase.numerator)
        let quotient = rounding.quotient(
            of: Int128(value) * Int128(timeBase.denominator), by: divisor,
            toFiner: Int128(timeBase.denominator) > divisor)
        guard let ticks = Int64(exactly: quotient.value) else { throw .overflow }
        return (ticks, quotient.isExact)
    }
}
