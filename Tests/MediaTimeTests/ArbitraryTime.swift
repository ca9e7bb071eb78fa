import MediaTime
import Support

extension SeededRandom {
    private static let extremeValues: [Int64] = [
        .min, .min + 1, .max, .max - 1, 0, 1, -1, 2, 3, Int64(Int32.max), Int64(Int32.min),
    ]
    private static let timescales: [Int32] = [
        1, 2, 3, 24, 25, 600, 1000, 1001, 24000, 30000, 44100, 48000, 90000, 1_000_000, .max, .max - 1,
    ]
    private static let specials: [MediaTime] = [.invalid, .indefinite, .positiveInfinity, .negativeInfinity]

    mutating func extremeValue() -> Int64 {
        Bool.random(using: &self)
            ? SeededRandom.extremeValues.randomElement(using: &self) ?? 0
            : Int64.random(in: .min ... .max, using: &self)
    }

    mutating func anyTimescale() -> Int32 {
        switch Int.random(in: 0..<10, using: &self) {
        case 0: [Int32.min, -1, 0].randomElement(using: &self) ?? 0
        case 1, 2: Int32.random(in: 1 ... .max, using: &self)
        default: SeededRandom.timescales.randomElement(using: &self) ?? 1
        }
    }

    /// Any time there is: extreme, special, of any epoch.
    mutating func anyTime() -> MediaTime {
        if Int.random(in: 0..<8, using: &self) == 0 {
            return SeededRandom.specials.randomElement(using: &self) ?? .invalid
        }
        let epoch = [0, 0, 0, 1, Int64.min, .max].randomElement(using: &self) ?? 0
        return MediaTime(value: extremeValue(), timescale: anyTimescale(), epoch: epoch)
    }

    /// A time as media have it: up to some days, in a usual timescale.
    mutating func ordinaryTime() -> MediaTime {
        let timescale = SeededRandom.timescales.dropLast(2).randomElement(using: &self) ?? 1
        return MediaTime(value: Int64.random(in: -1 << 38...1 << 38, using: &self), timescale: timescale)
    }

    mutating func anyTimeBase() -> TimeBase {
        let numerators: [Int32] = [1, 1, 1, 1001, .max, 7]
        return TimeBase(
            numerator: numerators.randomElement(using: &self) ?? 1, denominator: max(1, anyTimescale()))
            ?? .mpeg
    }

    mutating func anyRounding() -> TimeRounding { TimeRounding.allCases.randomElement(using: &self) ?? .down }
}
