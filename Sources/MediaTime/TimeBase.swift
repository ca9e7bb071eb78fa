/// The unit of a stream's integer timestamps: `numerator / denominator` seconds a tick.
///
/// libav calls this a time base (`AVRational`), QuickTime a time scale with an implied numerator of 1.
public struct TimeBase: Hashable, Sendable, Codable, CustomStringConvertible {
    /// Positive.
    public let numerator: Int32
    /// Positive.
    public let denominator: Int32

    /// - Returns: `nil` unless both are positive.
    public init?(numerator: Int32, denominator: Int32) {
        guard numerator > 0, denominator > 0 else { return nil }
        self.numerator = numerator
        self.denominator = denominator
    }

    private init(unchecked numerator: Int32, _ denominator: Int32) {
        self.numerator = numerator
        self.denominator = denominator
    }

    /// 1/1,000,000 s, libav's `AV_TIME_BASE_Q`.
    public static let microseconds = TimeBase(unchecked: 1, 1_000_000)
    /// 1/1,000 s, Matroska's usual unit.
    public static let milliseconds = TimeBase(unchecked: 1, 1_000)
    /// 1/90,000 s, MPEG-2 systems (ISO/IEC 13818-1 §2.4.3.7).
    public static let mpeg = TimeBase(unchecked: 1, 90_000)

    public var description: String { "\(numerator)/\(denominator)" }
}

extension TimeBase {
    private enum CodingKeys: String, CodingKey { case numerator, denominator }

    /// - Throws: `DecodingError` unless both are positive: a zero from outside must not become a division by zero.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let numerator = try container.decode(Int32.self, forKey: .numerator)
        let denominator = try container.decode(Int32.self, forKey: .denominator)
        guard let timeBase = TimeBase(numerator: numerator, denominator: denominator) else {
            throw DecodingError.dataCorruptedError(
                forKey: .denominator, in: container,
                debugDescription: "\(numerator)/\(denominator) is not a time base: both must be positive")
        }
        self = timeBase
    }
}
