/// The way back from a 128-bit rational to a time.
extension MediaTime {
    /// Keeps `denominator` as the timescale where it fits, else reduces.
    ///
    /// - Parameter denominator: Positive.
    /// - Throws: `.overflow` or `.inexact` where no time equals the rational.
    static func exactly(
        _ numerator: Int128, over denominator: Int128, epoch: Int64, isRounded: Bool
    ) throws(MediaTimeError) -> MediaTime {
        if let value = Int64(exactly: numerator), let timescale = Int32(exactly: denominator) {
            return MediaTime(value: value, timescale: timescale, epoch: epoch, isRounded: isRounded)
        }
        let divisor = Int128(greatestCommonDivisor(numerator.magnitude, denominator.magnitude))
        guard let timescale = Int32(exactly: denominator / divisor) else { throw .inexact }
        guard let value = Int64(exactly: numerator / divisor) else { throw .overflow }
        return MediaTime(value: value, timescale: timescale, epoch: epoch, isRounded: isRounded)
    }

    /// The exact time where there is one, else the rational rounded to the finest timescale that holds it, and marked.
    ///
    /// - Parameter denominator: Positive.
    /// - Throws: `.overflow`.
    static func nearest(
        _ numerator: Int128, over denominator: Int128, epoch: Int64, isRounded: Bool, rounding: TimeRounding
    ) throws(MediaTimeError) -> MediaTime {
        do {
            return try exactly(numerator, over: denominator, epoch: epoch, isRounded: isRounded)
        } catch .inexact {
            return try rounded(numerator, over: denominator, epoch: epoch, rounding: rounding)
        } catch {
            throw error
        }
    }

    private static func rounded(
        _ numerator: Int128, over denominator: Int128, epoch: Int64, rounding: TimeRounding
    ) throws(MediaTimeError) -> MediaTime {
        let (whole, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
        guard whole.magnitude < UInt128(Int64.max) else { throw .overflow }
        // Room for the whole seconds and one more, which the fraction may round up to.
        let timescale = min(Int128(Int64.max) / (Int128(whole.magnitude) + 1), Int128(Int32.max))
        let (ticks, overflow) = rest.multipliedReportingOverflow(by: timescale)
        guard !overflow else { throw .overflow }
        // QuickTime rounding to a coarser scale: toward zero, unless that would be zero.
        let mode = rounding == .quickTime && whole != 0 ? .towardZero : rounding
        let fraction = mode.quotient(of: ticks, by: denominator, toFiner: false).value
        guard let value = Int64(exactly: whole * timescale + fraction), let scale = Int32(exactly: timescale)
        else { throw .overflow }
        return MediaTime(value: value, timescale: scale, epoch: epoch, isRounded: true)
    }
}
