internal import ClusterProtocol
internal import MediaTime

/// A unit in which the times of several time bases are whole numbers, so that they can be compared exactly.
struct CommonClock {
    /// Units a second.
    let rate: Int128

    /// Beyond this a product with 64 bits of ticks might not fit 128.
    private static let limit = Int128(1) << 62

    /// - Throws: for time bases that have no common unit of a sensible size.
    init(_ timeBases: [TimeBase], _ times: [MediaTime] = []) throws(Failure) {
        var rate: Int128 = 1
        for denominator in timeBases.map(\.denominator) + times.filter(\.isNumeric).map(\.timescale) {
            rate = rate / Self.greatestCommonDivisor(rate, Int128(denominator)) * Int128(denominator)
            guard rate < Self.limit else {
                throw Failure(.timing, "The time bases of source and output are too unlike to be compared exactly.")
            }
        }
        self.rate = rate
    }

    private static func greatestCommonDivisor(_ left: Int128, _ right: Int128) -> Int128 {
        var (left, right) = (left, right)
        while right != 0 { (left, right) = (right, left % right) }
        return max(1, left)
    }

    /// Units of one tick.
    func tick(of timeBase: TimeBase) -> Int128 { Int128(timeBase.numerator) * (rate / Int128(timeBase.denominator)) }

    func units(_ ticks: Int64, in timeBase: TimeBase) -> Int128 { Int128(ticks) &* tick(of: timeBase) }

    /// 0 for a time that is no number.
    func units(_ time: MediaTime) -> Int128 {
        time.isNumeric ? Int128(time.value) &* (rate / Int128(time.timescale)) : 0
    }

    /// For text shown to people.
    func seconds(_ units: Int128) -> Double { Double(units) / Double(rate) }
}
