import MediaTime
import Support
import Testing

@Suite struct MediaTimeArithmeticTests {
    @Test("a third of a second three times is one second")
    func thirds() throws {
        let third = MediaTime(value: 1, timescale: 3)
        #expect(try third.multiplied(by: 3) == MediaTime(value: 1, timescale: 1))
        #expect(try third.adding(third).adding(third) == MediaTime(value: 1, timescale: 1))
    }

    @Test("29.97 frames a second stay exact for ten hours")
    func ntsc() throws {
        let frame = MediaTime(value: 1001, timescale: 30000)
        var time = MediaTime.zero
        for number in 0..<Int64(10 * 3600 * 30) {
            if time != MediaTime(value: number * 1001, timescale: 30000) {
                Issue.record("frame \(number) is at \(time)")
                return
            }
            if number % 1000 == 0 {
                let ticks = try time.ticks(exactlyIn: .mpeg)
                #expect(ticks == number * 3003)
                #expect(try MediaTime(ticks: ticks, in: .mpeg) == time)
            }
            time = try time.adding(frame)
        }
        #expect(!time.hasBeenRounded)
    }

    @Test("a sum has the common timescale, or the smallest that holds it")
    func sumTimescale() throws {
        let sum = try MediaTime(value: 1, timescale: 48000).adding(MediaTime(value: 1, timescale: 90000))
        #expect(sum.timescale == 720_000 && sum.value == 23)
        let big = MediaTime(value: 2, timescale: .max - 1)
        #expect(
            try big.adding(MediaTime(value: .max, timescale: 1).negated().adding(.init(value: .max, timescale: 1)))
                == big)
    }

    @Test("overflow and inexactness are errors")
    func errors() {
        let largest = MediaTime(value: .max, timescale: 1)
        #expect(throws: MediaTimeError.overflow) { try largest.adding(MediaTime(value: 1, timescale: 1)) }
        #expect(throws: MediaTimeError.overflow) { try MediaTime(value: .min, timescale: 1).negated() }
        #expect(throws: MediaTimeError.overflow) { try largest.multiplied(by: .max) }
        #expect(throws: MediaTimeError.inexact) {
            try MediaTime(value: 1, timescale: .max).adding(MediaTime(value: 1, timescale: .max - 1))
        }
        #expect(throws: MediaTimeError.divisionByZero) { try MediaTime.zero.multiplied(by: 1, dividedBy: 0) }
    }

    @Test("−2⁶³ ticks can be negated where the reduced time fits")
    func negateMinimum() throws {
        let time = try MediaTime(value: .min, timescale: 2).negated()
        #expect(time.value == 1 << 62 && time.timescale == 1)
    }

    @Test("special values add as in Core Media")
    func specialSums() throws {
        let one = MediaTime(value: 1, timescale: 1)
        #expect(try one.adding(.invalid) == .invalid)
        #expect(try one.adding(.indefinite) == .indefinite)
        #expect(try MediaTime.indefinite.adding(.positiveInfinity) == .positiveInfinity)
        #expect(try MediaTime.positiveInfinity.adding(.negativeInfinity) == .invalid)
        #expect(try MediaTime.positiveInfinity.subtracting(.positiveInfinity) == .invalid)
        #expect(try one.subtracting(.positiveInfinity) == .negativeInfinity)
        #expect(try MediaTime.positiveInfinity.multiplied(by: -2) == .negativeInfinity)
        #expect(try MediaTime.positiveInfinity.multiplied(by: 0) == .invalid)
        #expect(try MediaTime.indefinite.multiplied(by: 3) == .indefinite)
        #expect(try MediaTime.negativeInfinity.absolute() == .positiveInfinity)
    }

    @Test("epochs: a duration adds to any, two different ones make nothing, a difference is a duration")
    func epochs() throws {
        let first = MediaTime(value: 1, timescale: 1, epoch: 1)
        let second = MediaTime(value: 1, timescale: 1, epoch: 2)
        let duration = MediaTime(value: 1, timescale: 1)
        #expect(first != duration && first > MediaTime(value: 100, timescale: 1))
        #expect(try first.adding(second) == .invalid)
        #expect(try first.subtracting(second) == .invalid)
        #expect(try first.adding(duration) == MediaTime(value: 2, timescale: 1, epoch: 1))
        #expect(try duration.adding(first).epoch == 1)
        #expect(try first.subtracting(first).epoch == 0)
        #expect(try first.subtracting(duration) == MediaTime(value: 0, timescale: 1, epoch: 1))
    }

    @Test("a ratio is exact where a time can hold it, else rounded to the finest timescale and marked")
    func ratios() throws {
        let exact = try MediaTime(value: 10, timescale: 1).multiplied(by: 1, dividedBy: 3)
        #expect(exact == MediaTime(value: 10, timescale: 3) && !exact.hasBeenRounded)
        let rounded = try MediaTime(value: 10, timescale: 1).multiplied(by: 1, dividedBy: 10_000_000_019)
        #expect(rounded.hasBeenRounded && rounded.timescale == .max && rounded.value == 2)
        #expect(try rounded.adding(.zero).hasBeenRounded)
        let negative = try MediaTime(value: -1, timescale: 1).multiplied(
            by: 1, dividedBy: 100_000_000_000, rounding: .quickTime)
        #expect(negative.value == -1)
        let mixed = try MediaTime(value: -7, timescale: 1).multiplied(by: .max, dividedBy: .max - 1, rounding: .down)
        #expect(mixed.hasBeenRounded && mixed < MediaTime(value: -7, timescale: 1))
    }

    @Test("addition of ordinary times commutes, associates and is undone by subtraction")
    func algebra() throws {
        var random = SeededRandom(seed: 0xBEEF)
        var compared = 0
        for _ in 0..<20_000 {
            let (a, b, c) = (random.ordinaryTime(), random.ordinaryTime(), random.ordinaryTime())
            guard let sum = try? a.adding(b) else { continue }
            #expect(try b.adding(a) == sum)
            #expect(try sum.subtracting(b) == a)
            #expect(!sum.hasBeenRounded)
            guard let left = try? sum.adding(c), let right = try? a.adding(b.adding(c)) else { continue }
            #expect(left == right, "\(a) \(b) \(c)")
            compared += 1
        }
        #expect(compared > 15_000)
    }
}
