extension TimeBase {
    /// The smallest timescale that holds every time of all the given timescales exactly: their least common multiple.
    ///
    /// An MP4 edit list is written in the movie's timescale (ISO/IEC 14496-12 §8.6.6): one that holds every track
    /// leaves nothing to round.
    ///
    /// - Returns: `nil` where it would exceed `limit`, or where a timescale is below 1. 1 for no timescale at all.
    public static func commonTimescale(of timescales: [Int32], limit: Int32 = .max) -> Int32? {
        var common: Int64 = 1
        for timescale in timescales {
            guard timescale > 0 else { return nil }
            let divisor = Int64(greatestCommonDivisor(UInt64(common), UInt64(timescale)))
            // 31 + 31 bits.
            common = common / divisor * Int64(timescale)
            guard common <= Int64(limit) else { return nil }
        }
        return common <= Int64(limit) ? Int32(exactly: common) : nil
    }

    /// The smallest timescale that holds every tick of all the given time bases exactly.
    ///
    /// - Returns: `nil` where it would exceed `limit`.
    public static func commonTimescale(of timeBases: [TimeBase], limit: Int32 = .max) -> Int32? {
        commonTimescale(of: timeBases.map(\.reduced.denominator), limit: limit)
    }

    /// The same unit in lowest terms.
    public var reduced: TimeBase {
        let divisor = Int32(greatestCommonDivisor(UInt64(numerator), UInt64(denominator)))
        return TimeBase(numerator: numerator / divisor, denominator: denominator / divisor) ?? self
    }
}
