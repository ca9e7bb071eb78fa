import MediaTime
import Support
import Testing

@testable import Stitching

@Suite("Times of copied sound")
struct SampleClockTests {
    @Test(
        "Times rounded to milliseconds come out as whole packets, without jitter or drift", arguments: [44_100, 48_000])
    func rounded(rate: Int) throws {
        var clock = try #require(SampleClock(sourceTimeBase: .milliseconds, sampleRate: rate))
        for packet in 0..<20_000 {
            let samples = packet * 1024
            let told = Int64((Double(samples) * 1000 / Double(rate)).rounded())
            #expect(try clock.time(of: told, sampleCount: 1024) == Int64(samples))
        }
    }

    @Test(
        "After ten hours not one sample is gained or lost, whatever unit the source counts in",
        arguments: [1000, 90_000])
    func tenHours(scale: Int32) throws {
        let unit = try #require(TimeBase(numerator: 1, denominator: scale))
        var clock = try #require(SampleClock(sourceTimeBase: unit, sampleRate: 44_100))
        var time: Int64 = 0
        var packets: Int64 = 0
        while packets * 1024 < 36_000 * 44_100 {
            time = try clock.time(of: (packets * 1024 * Int64(scale) + 22_050) / 44_100, sampleCount: 1024)
            packets += 1
        }
        #expect(time == (packets - 1) * 1024)
    }

    @Test("A gap stays a gap of the same length, and the clock goes on behind it")
    func gap() throws {
        var clock = try #require(SampleClock(sourceTimeBase: .milliseconds, sampleRate: 48_000))
        #expect(try clock.time(of: 0, sampleCount: 1024) == 0)
        #expect(try clock.time(of: 21, sampleCount: 1024) == 1024)
        #expect(try clock.time(of: 1043, sampleCount: 1024) == 1043 * 48)
        #expect(try clock.time(of: 1064, sampleCount: 1024) == 1043 * 48 + 1024)
    }

    @Test("An overlap is followed too")
    func overlap() throws {
        var clock = try #require(SampleClock(sourceTimeBase: .milliseconds, sampleRate: 48_000))
        #expect(try clock.time(of: 1000, sampleCount: 4800) == 48_000)
        #expect(try clock.time(of: 1010, sampleCount: 4800) == 1010 * 48)
    }

    @Test("A packet of unknown length is taken at its word")
    func unknownLength() throws {
        var clock = try #require(SampleClock(sourceTimeBase: .milliseconds, sampleRate: 48_000))
        for time in [0, 33, 67, 101] as [Int64] {
            #expect(try clock.time(of: time, sampleCount: 0) == time * 48)
        }
    }

    @Test(
        "Whatever the packets and gaps, no time is further from the source's than its rounding explains",
        arguments: 0..<50 as Range<UInt64>)
    func bounded(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let rate = [8_000, 22_050, 44_100, 48_000, 96_000].randomElement(using: &random) ?? 48_000
        var clock = try #require(SampleClock(sourceTimeBase: .milliseconds, sampleRate: rate))
        var truth: Int64 = 0
        for _ in 0..<500 {
            if Int.random(in: 0..<40, using: &random) == 0 {
                truth += Int64.random(in: Int64(rate) / 10...Int64(rate) * 5, using: &random)
            }
            let count = Int64.random(in: 1...4096, using: &random)
            let told = (truth * 1000 + Int64(rate) / 2) / Int64(rate)
            let time = try clock.time(of: told, sampleCount: Int(count))
            // One source tick for the rounding of each of the two times it compares.
            #expect(abs(time - truth) <= Int64(rate) / 500, "seed \(seed)")
            truth += count
        }
    }

    @Test("A time that does not fit is an error, and a rate of nothing has no clock")
    func limits() throws {
        #expect(SampleClock(sourceTimeBase: .milliseconds, sampleRate: 0) == nil)
        #expect(SampleClock(sourceTimeBase: .milliseconds, sampleRate: Int(Int32.max) + 1) == nil)
        var clock = try #require(SampleClock(sourceTimeBase: .milliseconds, sampleRate: 48_000))
        #expect(throws: MediaTimeError.self) { try clock.time(of: .max, sampleCount: 1024) }
        #expect(try clock.time(of: Int64.max / 48, sampleCount: 1024) == Int64.max / 48 * 48)
        var early = try #require(SampleClock(sourceTimeBase: .milliseconds, sampleRate: 48_000))
        #expect(try early.time(of: Int64.min / 48, sampleCount: 1024) == Int64.min / 48 * 48)
    }

    @Test("Packets that share a time or go back still rise, and the source's time is taken up again")
    func shared() throws {
        var clock = try #require(SampleClock(sourceTimeBase: .milliseconds, sampleRate: 48_000))
        var times: [Int64] = []
        for ticks in [0, 100, 100, 50, 200] as [Int64] { times.append(try clock.time(of: ticks, sampleCount: 1024)) }
        #expect(times == [0, 4800, 4801, 4802, 9600])
    }
}
