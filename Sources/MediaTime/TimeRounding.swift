/// What becomes of a time that falls between two ticks.
public enum TimeRounding: String, Hashable, Sendable, Codable, CaseIterable {
    /// To the nearest tick, halves away from zero: 1.5 → 2, −1.5 → −2. The default, as in Core Media.
    case halfAwayFromZero
    /// 1.9 → 1, −1.9 → −1.
    case towardZero
    /// 1.1 → 2, −1.1 → −2.
    case awayFromZero
    /// To negative infinity: 1.9 → 1, −1.1 → −2.
    case down
    /// To positive infinity: 1.1 → 2, −1.9 → −1.
    case up
    /// Toward zero to a coarser (or equal) scale, away from zero to a finer one; and a negative time never becomes 0
    /// but the negative time nearest to it.
    case quickTime

    /// - Parameters:
    ///   - divisor: Positive.
    ///   - toFiner: Whether the target has more ticks a second than the source; only ``quickTime`` asks.
    func quotient(
        of dividend: Int128, by divisor: Int128, toFiner: Bool
    ) -> (value: Int128, isExact: Bool) {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        guard remainder != 0 else { return (quotient, true) }
        // A remainder means a divisor of 2 or more, so one step away from zero cannot overflow.
        let negative = dividend < 0
        let isAway =
            switch self {
            case .halfAwayFromZero: remainder.magnitude >= divisor.magnitude - remainder.magnitude
            case .towardZero: false
            case .awayFromZero: true
            case .down: negative
            case .up: !negative
            case .quickTime: toFiner || (negative && quotient == 0)
            }
        guard isAway else { return (quotient, false) }
        return (negative ? quotient - 1 : quotient + 1, false)
    }
}
