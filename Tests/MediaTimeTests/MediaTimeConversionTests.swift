import MediaTime
import Support
import Testing

@Suite struct MediaTimeConversionTests {
    @Test(
        "each rounding mode rounds 1.5, −1.5, 1.25 and −0.25 its way",
        arguments: [
            (TimeRounding.halfAwayFromZero, [2, -2, 1, 0]), (.towardZero, [1, -1, 1, 0]),
            (.awayFromZero, [2, -2, 2, -1]), (.down, [1, -2, 1, -1]), (.up, [2, -1, 2, 0]),
            (.quickTime, [1, -1, 1, -1]),
        ] as [(TimeRounding, [Int64])])
    func modes(_ rounding: TimeRounding, _ expected: [Int64]) throws {
        for (quarters, wanted) in zip([6, -6, 5, -1] as [Int64], expected) {
            let time = try MediaTime(value: quarters, timescale: 4).converted(toTimescale: 1, rounding: rounding)
            #expect(time.value == wanted && time.hasBeenRounded)
            let base = try #require(TimeBase(numerator: 1, denominator: 4))
            let second = try #require(TimeBase(numerator: 1, denominator: 1))
            #expect(try base.rescale(quarters, to: second, rounding: rounding) == wanted)
        }
    }

    @Test("QuickTime rounding goes away from zero to a finer timescale")
    func quickTimeFiner() throws {
        #expect(try MediaTime(value: 1, timescale: 3).converted(toTimescale: 10, rounding: .quickTime).value == 4)
    }

    @Test("an exact conversion is not marked, and a mark does not go away")
    func mark() throws {
        let exact = try MediaTime(value: 1, timescale: 25).converted(toTimescale: 600)
        #expect(exact.value == 24 && !exact.hasBeenRounded)
        let rounded = try MediaTime(value: 1, timescale: 3).converted(toTimescale: 10)
        #expect(rounded.hasBeenRounded)
        #expect(try rounded.converted(toTimescale: 600).hasBeenRounded)
    }

    @Test("special values convert to themselves but have no ticks")
    func specials() throws {
        #expect(try MediaTime.indefinite.converted(toTimescale: 5) == .indefinite)
        #expect(throws: MediaTimeError.notNumeric) { try MediaTime.positiveInfinity.ticks(in: .mpeg) }
        #expect(throws: MediaTimeError.invalidTimescale) { try MediaTime.zero.converted(toTimescale: 0) }
        #expect(throws: MediaTimeError.overflow) {
            try MediaTime(value: .max, timescale: 1).converted(toTimescale: 2)
        }
    }

    @Test("ticks between two of a time base are refused where exact ones are asked for")
    func exactTicks() throws {
        let frame = MediaTime(value: 1001, timescale: 30000)
        #expect(try frame.ticks(exactlyIn: .mpeg) == 3003)
        #expect(throws: MediaTimeError.inexact) { try frame.ticks(exactlyIn: .milliseconds) }
        #expect(throws: MediaTimeError.inexact) { try TimeBase.mpeg.rescale(1, exactlyTo: .milliseconds) }
        #expect(try TimeBase.milliseconds.rescale(7, exactlyTo: .mpeg) == 630)
        #expect(TimeBase.milliseconds.isExact(in: .mpeg) && !TimeBase.mpeg.isExact(in: .milliseconds))
    }

    @Test("ticks go to time and back unchanged, whatever the time base")
    func roundTrip() throws {
        var random = SeededRandom(seed: 0x7EA)
        for _ in 0..<20_000 {
            let base = random.anyTimeBase()
            let ticks = random.extremeValue()
            guard let time = try? MediaTime(ticks: ticks, in: base) else { continue }
            #expect(try time.ticks(exactlyIn: base) == ticks, "\(ticks) \(base)")
        }
    }

    @Test("rescaling to a finer time base and back gives the same ticks")
    func rescaleRoundTrip() throws {
        var random = SeededRandom(seed: 0x5CA1E)
        for _ in 0..<20_000 {
            let ticks = Int64.random(in: -1 << 40...1 << 40, using: &random)
            let fine = try TimeBase.milliseconds.rescale(ticks, to: .mpeg, rounding: random.anyRounding())
            #expect(try TimeBase.mpeg.rescale(fine, exactlyTo: .milliseconds) == ticks)
        }
    }

    @Test("rounding errs by less than a tick and by at most half for the nearest")
    func roundingError() throws {
        var random = SeededRandom(seed: 0xE44)
        for _ in 0..<5_000 {
            let time = random.ordinaryTime()
            for rounding in TimeRounding.allCases {
                let converted = try time.converted(toTimescale: 1001, rounding: rounding)
                let error = try converted.subtracting(time).absolute()
                #expect(error < MediaTime(value: 1, timescale: 1001))
                if rounding == .halfAwayFromZero { #expect(error <= MediaTime(value: 1, timescale: 2002)) }
                if rounding == .down { #expect(converted <= time) }
                if rounding == .up { #expect(converted >= time) }
            }
        }
    }

    @Test("no operation traps on any input")
    func neverTraps() {
        var random = SeededRandom(seed: 0xDEAD)
        for _ in 0..<30_000 {
            let (a, b) = (random.anyTime(), random.anyTime())
            let (ticks, base, rounding) = (random.extremeValue(), random.anyTimeBase(), random.anyRounding())
            _ = try? a.adding(b)
            _ = try? a.subtracting(b)
            _ = try? a.multiplied(by: ticks)
            _ = try? a.multiplied(by: ticks, dividedBy: random.extremeValue(), rounding: rounding)
            _ = try? a.negated()
            _ = try? a.absolute()
            _ = try? a.converted(toTimescale: random.anyTimescale(), rounding: rounding)
            _ = try? a.ticks(in: base, rounding: rounding)
            _ = try? MediaTime(ticks: ticks, in: base)
            _ = try? base.rescale(ticks, to: random.anyTimeBase(), rounding: rounding)
            _ = base.isExact(in: random.anyTimeBase())
            _ = TimeBase.commonTimescale(of: [a.timescale, b.timescale, random.anyTimescale()])
            _ = (a.seconds, a.description, a.clockText, a.reduced, a.hashValue)
            guard let source = try? TimeRange(start: a, end: b),
                let target = try? TimeRange(start: random.anyTime(), duration: random.anyTime())
            else { continue }
            _ = try? source.union(target)
            _ = try? source.intersection(target)
            _ = try? TimeMapping(source: source, target: target).map(random.anyTime())
            _ = try? TimeMapping(source: target, target: source).map(random.anyTime())
        }
    }
}
