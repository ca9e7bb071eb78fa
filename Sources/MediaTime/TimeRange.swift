/// The half-open span `[start, end)`, within one epoch: it never contains its end.
///
/// The start is a number; the duration is a non-negative number, indefinite (not known yet) or +∞.
public struct TimeRange: Hashable, Sendable {
    public let start: MediaTime
    /// Epoch 0.
    public let duration: MediaTime
    /// `start + duration`, in the start's epoch; indefinite or +∞ where the duration is.
    public let end: MediaTime

    /// `[0, 0)`.
    public static let zero = TimeRange(unchecked: .zero, .zero, .zero)

    /// - Throws: `.notNumeric` for a start that is no number or a duration that is invalid, `.invalidDuration` for a
    ///   negative duration or one with an epoch, `.overflow` or `.inexact` where the end cannot be represented.
    public init(start: MediaTime, duration: MediaTime) throws(MediaTimeError) {
        guard start.isNumeric, duration.isValid else { throw .notNumeric }
        guard duration >= .zero, duration.epoch == 0 else { throw .invalidDuration }
        self.init(unchecked: start, duration, try start.adding(duration))
    }

    /// - Parameter end: Not before `start` and of its epoch; or indefinite, or +∞.
    /// - Throws: `.notNumeric`, `.differentEpochs`, `.invalidDuration` for an end before the start, `.overflow` or
    ///   `.inexact` where the duration cannot be represented.
    public init(start: MediaTime, end: MediaTime) throws(MediaTimeError) {
        guard start.isNumeric, end.isValid else { throw .notNumeric }
        guard !end.isNumeric || start.epoch == end.epoch else { throw .differentEpochs }
        guard start <= end else { throw .invalidDuration }
        self.init(unchecked: start, try end.subtracting(start), end)
    }

    private init(unchecked start: MediaTime, _ duration: MediaTime, _ end: MediaTime) {
        self.start = start
        self.duration = duration
        self.end = end
    }

    public var epoch: Int64 { start.epoch }
    /// Contains no time.
    public var isEmpty: Bool { duration == .zero }

    /// `start ≤ time < end`, in this epoch. An indefinite end is later than any number. False for what is no number.
    public func contains(_ time: MediaTime) -> Bool {
        time.isNumeric && time.epoch == epoch && start <= time && time < end
    }

    /// Whether the other range begins and ends within this one. An empty range within, or at either end, is contained.
    public func contains(_ other: TimeRange) -> Bool {
        other.epoch == epoch && start <= other.start && other.end <= end
    }

    /// Whether some time lies in both.
    public func overlaps(_ other: TimeRange) -> Bool {
        epoch == other.epoch && max(start, other.start) < min(end, other.end)
    }

    /// What lies in both: `nil` where nothing does (apart, merely touching, empty, or of different epochs).
    ///
    /// - Throws: `.overflow` or `.inexact` where the duration cannot be represented.
    public func intersection(_ other: TimeRange) throws(MediaTimeError) -> TimeRange? {
        guard overlaps(other) else { return nil }
        return try TimeRange(start: max(start, other.start), end: min(end, other.end))
    }

    /// The smallest range that contains both, with any gap between them.
    ///
    /// - Throws: `.differentEpochs`; `.overflow` or `.inexact` where the duration cannot be represented.
    public func union(_ other: TimeRange) throws(MediaTimeError) -> TimeRange {
        guard epoch == other.epoch else { throw .differentEpochs }
        return try TimeRange(start: min(start, other.start), end: max(end, other.end))
    }
}

extension TimeRange: CustomStringConvertible {
    public var description: String { "[\(start), \(end))" }
}

extension TimeRange: Codable {
    private enum CodingKeys: String, CodingKey { case start, duration }

    /// Reads `{"start": …, "duration": …}`; what is no range is a `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let start = try container.decode(MediaTime.self, forKey: .start)
        let duration = try container.decode(MediaTime.self, forKey: .duration)
        do {
            try self.init(start: start, duration: duration)
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: .duration, in: container, debugDescription: error.description)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(start, forKey: .start)
        try container.encode(duration, forKey: .duration)
    }
}
