internal import CFFmpeg

/// A ratio such as a frame rate (30000/1001 pictures a second) or the aspect of a sample (4/3).
public struct Rational: Sendable, Hashable, Codable, CustomStringConvertible {
    public let numerator: Int32
    /// Positive.
    public let denominator: Int32

    /// - Returns: `nil` unless the denominator is positive.
    public init?(_ numerator: Int32, _ denominator: Int32) {
        guard denominator > 0 else { return nil }
        self.numerator = numerator
        self.denominator = denominator
    }

    /// `nil` where libav says "unknown": 0 on either side.
    init?(known rational: AVRational) {
        guard rational.num > 0, rational.den > 0 else { return nil }
        self.init(rational.num, rational.den)
    }

    /// `nil` where no two numbers of 32 bits can tell it.
    package init?(reducing numerator: Int64, _ denominator: Int64) {
        var (over, under): (Int32, Int32) = (0, 0)
        guard numerator > 0, denominator > 0,
            av_reduce(&over, &under, numerator, denominator, Int64(Int32.max)) == 1, over > 0
        else { return nil }
        self.init(over, under)
    }

    var libav: AVRational { AVRational(num: numerator, den: denominator) }

    /// For text shown to people; never for arithmetic on times.
    public var approximation: Double { Double(numerator) / Double(denominator) }
    public var description: String { "\(numerator)/\(denominator)" }
}
