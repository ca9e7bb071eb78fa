/// An exact point in time, or a duration: `value / timescale` seconds, with Core Media's special values.
///
/// Arithmetic is exact: it is carried out in 128 bits and either holds the true result or throws. Rounding happens
/// only where a rounding mode is named, and leaves its mark in ``hasBeenRounded``.
///
/// Equality, order and hash go by the time, not by its spelling: 1/2 equals 2/4. See ``compare(_:_:)`` for the order
/// of special values and epochs.
public struct MediaTime: Sendable {
    /// Ticks; 0 for a special value.
    public let value: Int64
    /// Ticks a second, 1…2³¹ − 1; 0 for a special value.
    public let timescale: Int32
    /// Tells time lines apart (a loop's turn, a stream after a jump). 0 is the epoch of durations and of most times.
    public let epoch: Int64
    public let flags: Flags

    /// The bits of Core Media's `CMTimeFlags`.
    public struct Flags: OptionSet, Hashable, Sendable, Codable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        public static let valid = Flags(rawValue: 1 << 0)
        public static let hasBeenRounded = Flags(rawValue: 1 << 1)
        public static let positiveInfinity = Flags(rawValue: 1 << 2)
        public static let negativeInfinity = Flags(rawValue: 1 << 3)
        public static let indefinite = Flags(rawValue: 1 << 4)
    }

    /// A timescale below 1 gives ``invalid``, as no number of seconds is meant by it.
    public init(value: Int64, timescale: Int32, epoch: Int64 = 0) {
        self.init(value: value, timescale: timescale, epoch: epoch, isRounded: false)
    }

    init(value: Int64, timescale: Int32, epoch: Int64, isRounded: Bool) {
        guard timescale > 0 else {
            self = .invalid
            return
        }
        self.value = value
        self.timescale = timescale
        self.epoch = epoch
        flags = isRounded ? [.valid, .hasBeenRounded] : .valid
    }

    private init(special flags: Flags) {
        value = 0
        timescale = 0
        epoch = 0
        self.flags = flags
    }

    /// 0 seconds.
    public static let zero = MediaTime(value: 0, timescale: 1)
    /// No time at all: the result of what makes no sense (∞ − ∞, a sum across epochs).
    public static let invalid = MediaTime(special: [])
    /// A time not known yet: the duration of a stream or of a growing file.
    public static let indefinite = MediaTime(special: [.valid, .indefinite])
    public static let positiveInfinity = MediaTime(special: [.valid, .positiveInfinity])
    public static let negativeInfinity = MediaTime(special: [.valid, .negativeInfinity])

    public var isValid: Bool { flags.contains(.valid) }
    public var isIndefinite: Bool { flags.contains(.indefinite) }
    public var isPositiveInfinity: Bool { flags.contains(.positiveInfinity) }
    public var isNegativeInfinity: Bool { flags.contains(.negativeInfinity) }
    public var isInfinite: Bool { isPositiveInfinity || isNegativeInfinity }
    /// A number of seconds: valid, and neither indefinite nor infinite.
    public var isNumeric: Bool { timescale > 0 }
    /// Whether this or an operand it was made from has been rounded.
    public var hasBeenRounded: Bool { flags.contains(.hasBeenRounded) }

    /// Seconds, for text shown to people and for estimates only. Not a number for invalid and indefinite times.
    public var seconds: Double {
        if isNumeric { return Double(value) / Double(timescale) }
        if isPositiveInfinity { return .infinity }
        return isNegativeInfinity ? -.infinity : .nan
    }
}
