internal import CFFmpeg
internal import MediaTime

/// A positive ratio: a frame rate (frames a second) or a sample aspect ratio (width to height of one sample).
public struct Ratio: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Positive.
    public let numerator: Int32
    /// Positive.
    public let denominator: Int32

    /// - Returns: `nil` unless both are positive.
    public init?(_ numerator: Int32, _ denominator: Int32) {
        guard numerator > 0, denominator > 0 else { return nil }
        self.numerator = numerator
        self.denominator = denominator
    }

    public var description: String { "\(numerator):\(denominator)" }
}

extension Ratio {
    /// - Returns: `nil` for libav's "unknown" (0/x, x/0).
    init?(_ rational: AVRational) { self.init(rational.num, rational.den) }
}

extension AVRational {
    /// 0/1 is libav's "unknown".
    init(_ ratio: Ratio?) {
        self.init(num: ratio?.numerator ?? 0, den: ratio?.denominator ?? 1)
    }

    init(_ timeBase: TimeBase) { self.init(num: timeBase.numerator, den: timeBase.denominator) }
}
