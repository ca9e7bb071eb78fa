extension MediaTime {
    /// The exact sum.
    ///
    /// The timescale is that of the operands where they agree, else their least common multiple, else (where that
    /// exceeds 2³¹ − 1 or the value 64 bits) the smallest that holds the sum. As in Core Media:
    /// - anything with invalid is invalid, as is +∞ with −∞; else infinity wins over indefinite, and indefinite over
    ///   numbers;
    /// - a time of epoch 0 is a duration and can be added to any epoch, whose epoch the sum keeps; the sum of two
    ///   different non-zero epochs is invalid, as nobody knows how long an epoch is.
    ///
    /// - Throws: `.overflow`, `.inexact`, where Core Media would give infinity or round.
    public func adding(_ other: MediaTime) throws(MediaTimeError) -> MediaTime {
        guard isNumeric, other.isNumeric else { return MediaTime.specialSum(self, other) }
        guard epoch == other.epoch || epoch == 0 || other.epoch == 0 else { return .invalid }
        return try combined(with: other, sign: 1, epoch: epoch == 0 ? other.epoch : epoch)
    }

    /// The exact difference, by the rules of ``adding(_:)``, but the difference of two times of one epoch is a duration
    /// and has epoch 0.
    public func subtracting(_ other: MediaTime) throws(MediaTimeError) -> MediaTime {
        guard isNumeric, other.isNumeric else {
            return MediaTime.specialSum(self, other.isNumeric ? other : try other.negated())
        }
        if epoch == other.epoch { return try combined(with: other, sign: -1, epoch: 0) }
        guard epoch == 0 || other.epoch == 0 else { return .invalid }
        return try combined(with: other, sign: -1, epoch: epoch == 0 ? other.epoch : epoch)
    }

    /// The exact product. Infinity keeps or changes its sign with the factor's; infinity times zero is invalid.
    /// The epoch stays.
    ///
    /// - Throws: `.overflow`.
    public func multiplied(by factor: Int64) throws(MediaTimeError) -> MediaTime {
        guard isNumeric else { return specialProduct(sign: factor.signum()) }
        // 63 + 63 bits.
        return try .exactly(
            Int128(value) * Int128(factor), over: Int128(timescale), epoch: epoch, isRounded: hasBeenRounded)
    }

    /// `self × numerator ÷ denominator`: exact where a time can hold it, else rounded to the finest timescale that can,
    /// and marked.
    ///
    /// - Throws: `.divisionByZero`, `.overflow`.
    public func multiplied(
        by numerator: Int64, dividedBy denominator: Int64, rounding: TimeRounding = .halfAwayFromZero
    ) throws(MediaTimeError) -> MediaTime {
        guard denominator != 0 else { throw .divisionByZero }
        guard isNumeric else { return specialProduct(sign: numerator.signum() * denominator.signum()) }
        // 63 + 63 bits, and −2⁶³ × −2⁶³ = 2¹²⁶ still fits with either sign.
        let product = Int128(value) * Int128(numerator)
        return try .nearest(
            denominator < 0 ? -product : product, over: Int128(denominator.magnitude) * Int128(timescale),
            epoch: epoch, isRounded: hasBeenRounded, rounding: rounding)
    }

    /// - Throws: `.overflow` for −2⁶³ ticks of an odd timescale.
    public func negated() throws(MediaTimeError) -> MediaTime { try multiplied(by: -1) }

    /// - Throws: `.overflow` for −2⁶³ ticks of an odd timescale.
    public func absolute() throws(MediaTimeError) -> MediaTime {
        isNegativeInfinity || value < 0 ? try negated() : self
    }

    private func combined(
        with other: MediaTime, sign: Int128, epoch: Int64
    ) throws(MediaTimeError) -> MediaTime {
        let isRounded = hasBeenRounded || other.hasBeenRounded
        let divisor = Int128(greatestCommonDivisor(UInt64(timescale), UInt64(other.timescale)))
        // 63 + 31 bits each: the sum cannot overflow 128.
        let sum =
            Int128(value) * (Int128(other.timescale) / divisor)
            + sign * Int128(other.value) * (Int128(timescale) / divisor)
        let denominator = Int128(timescale) / divisor * Int128(other.timescale)
        return try .exactly(sum, over: denominator, epoch: epoch, isRounded: isRounded)
    }

    private static func specialSum(_ first: MediaTime, _ second: MediaTime) -> MediaTime {
        guard first.isValid, second.isValid else { return .invalid }
        guard first.isInfinite || second.isInfinite else { return .indefinite }
        let isPositive = first.isPositiveInfinity || second.isPositiveInfinity
        let isNegative = first.isNegativeInfinity || second.isNegativeInfinity
        if isPositive && isNegative { return .invalid }
        return isPositive ? .positiveInfinity : .negativeInfinity
    }

    private func specialProduct(sign: Int64) -> MediaTime {
        guard isInfinite, sign != 0 else { return isInfinite ? .invalid : self }
        return isPositiveInfinity == (sign > 0) ? .positiveInfinity : .negativeInfinity
    }
}
