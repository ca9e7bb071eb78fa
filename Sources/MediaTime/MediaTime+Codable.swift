/// `{"value": 1001, "timescale": 30000}`, with `"epoch"` unless it is 0 and `"flags"` (the bits of ``MediaTime/Flags``)
/// unless only `valid` is set: invalid is flags 0, indefinite 17, +∞ 5, −∞ 9 with value and timescale 0; a rounded
/// number has flags 3.
extension MediaTime: Codable {
    private enum CodingKeys: String, CodingKey { case value, timescale, epoch, flags }

    /// - Throws: `DecodingError` for a number without a positive timescale and for flags that contradict each other.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let flags = try container.decodeIfPresent(UInt32.self, forKey: .flags).map(Flags.init) ?? .valid
        if flags == .valid || flags == [.valid, .hasBeenRounded] {
            let timescale = try container.decode(Int32.self, forKey: .timescale)
            guard timescale > 0 else {
                throw DecodingError.dataCorruptedError(
                    forKey: .timescale, in: container, debugDescription: "a timescale must be positive")
            }
            self.init(
                value: try container.decode(Int64.self, forKey: .value), timescale: timescale,
                epoch: try container.decodeIfPresent(Int64.self, forKey: .epoch) ?? 0,
                isRounded: flags.contains(.hasBeenRounded))
            return
        }
        let specials: [MediaTime] = [.invalid, .indefinite, .positiveInfinity, .negativeInfinity]
        guard let special = specials.first(where: { $0.flags == flags }) else {
            throw DecodingError.dataCorruptedError(
                forKey: .flags, in: container, debugDescription: "no time has the flags \(flags.rawValue)")
        }
        self = special
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encode(timescale, forKey: .timescale)
        if epoch != 0 { try container.encode(epoch, forKey: .epoch) }
        if flags != .valid { try container.encode(flags.rawValue, forKey: .flags) }
    }
}
