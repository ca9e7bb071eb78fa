import MediaTime
import Support
import Testing

@Suite struct MediaTimeValueTests {
    @Test("a timescale below 1 makes an invalid time", arguments: [Int32(0), -1, .min])
    func badTimescale(_ timescale: Int32) {
        let time = MediaTime(value: 5, timescale: timescale)
        #expect(!time.isValid && !time.isNumeric)
        #expect(time == .invalid)
    }

    @Test("special values are not numbers and know what they are")
    func specials() {
        #expect(MediaTime.zero.isNumeric && MediaTime.zero.isValid)
        #expect(MediaTime.indefinite.isIndefinite && MediaTime.indefinite.isValid && !MediaTime.indefinite.isNumeric)
        #expect(MediaTime.positiveInfinity.isPositiveInfinity && MediaTime.positiveInfinity.isInfinite)
        #expect(MediaTime.negativeInfinity.isNegativeInfinity && MediaTime.negativeInfinity.isInfinite)
        #expect(MediaTime.indefinite.seconds.isNaN && MediaTime.positiveInfinity.seconds == .infinity)
    }

    @Test("equal times of different timescales are equal and hash alike")
    func equalAcrossTimescales() {
        let half = MediaTime(value: 1, timescale: 2)
        let alsoHalf = MediaTime(value: 45000, timescale: 90000)
        #expect(half == alsoHalf)
        #expect(Set([half, alsoHalf]).count == 1)
        #expect(Set([MediaTime(value: 0, timescale: 7), .zero]).count == 1)
    }

    @Test("special values sort as in Core Media, with invalid last")
    func order() {
        let sorted: [MediaTime] = [
            .negativeInfinity, MediaTime(value: .min, timescale: 1), .zero, MediaTime(value: .max, timescale: 1),
            MediaTime(value: -5, timescale: 1, epoch: 1), .indefinite, .positiveInfinity, .invalid,
        ]
        for (lower, upper) in zip(sorted, sorted.dropFirst()) {
            #expect(lower < upper)
            #expect(!(upper < lower) && lower != upper)
        }
    }

    @Test("a difference below what Double can tell still decides the order")
    func exactComparison() {
        let first = MediaTime(value: .max, timescale: .max)
        let second = MediaTime(value: .max - 1, timescale: .max)
        #expect(first.seconds == second.seconds)
        #expect(second < first)
    }

    @Test("comparison is a total order consistent with equality and hash")
    func totalOrder() {
        var random = SeededRandom(seed: 0xA11CE)
        for _ in 0..<20_000 {
            let (a, b, c) = (random.anyTime(), random.anyTime(), random.anyTime())
            #expect([a < b, a == b, b < a].count { $0 } == 1, "\(a) \(b)")
            if a <= b, b <= c { #expect(a <= c, "\(a) \(b) \(c)") }
            if a == b { #expect(a.hashValue == b.hashValue, "\(a) \(b)") }
            #expect(a == a.reduced && a.hashValue == a.reduced.hashValue)
        }
    }
}
