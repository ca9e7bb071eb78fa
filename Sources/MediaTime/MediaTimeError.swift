/// Why an operation on exact time has no result.
///
/// Core Media saturates to infinity or rounds in these cases; an export that must keep every timestamp cannot, so
/// they are errors here.
public enum MediaTimeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The result lies outside what a 64-bit value can hold.
    case overflow
    /// The result is a rational whose denominator exceeds 2³¹ − 1 after reduction, so it cannot be held exactly;
    /// or an exact number of ticks was asked for and there is none.
    case inexact
    /// The operation needs a number and got invalid, indefinite or infinite time.
    case notNumeric
    /// A range or mapping would span two epochs.
    case differentEpochs
    /// A timescale below 1.
    case invalidTimescale
    /// A divisor of zero.
    case divisionByZero
    /// A range would end before it starts, or its duration has an epoch.
    case invalidDuration
    /// The mapping has no source (an empty edit), so no source time exists.
    case emptyMapping

    public var description: String {
        switch self {
        case .overflow: "the time does not fit 64 bits"
        case .inexact: "the time cannot be represented exactly"
        case .notNumeric: "the time is invalid, indefinite or infinite"
        case .differentEpochs: "the times belong to different epochs"
        case .invalidTimescale: "a timescale must be positive"
        case .divisionByZero: "division of a time by zero"
        case .invalidDuration: "a duration must not be negative and has no epoch"
        case .emptyMapping: "an empty edit has no source time"
        }
    }
}
