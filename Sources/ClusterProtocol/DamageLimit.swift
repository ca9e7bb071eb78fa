package import MediaTime

/// How much damage of the source an export puts up with: `250` pictures, `0.5%` of the pictures, or `2s` of picture.
package enum DamageLimit: Hashable, Sendable {
    case frames(Int)
    /// 0 to 100.
    case percent(Double)
    case duration(MediaTime)

    package init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let value = Double(text.dropLast()), (0...100).contains(value) else { return nil }
            self = .percent(value)
        } else if text.hasSuffix("s") || text.contains(":") {
            let number = text.hasSuffix("s") ? String(text.dropLast()) : text
            guard let time = MediaTime(text: number), time.isNumeric, time >= .zero else { return nil }
            self = .duration(time)
        } else {
            guard let count = Int(text), count >= 0 else { return nil }
            self = .frames(count)
        }
    }

    package var text: String {
        switch self {
        case .frames(let count): "\(count)"
        case .percent(let share): "\(share)%"
        case .duration(let time): "\(time.value)/\(time.timescale)s"
        }
    }
}

extension DamageLimit: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let limit = DamageLimit(text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "\(text) is no limit of damage such as 250, 0.5% or 2s."))
        }
        self = limit
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
