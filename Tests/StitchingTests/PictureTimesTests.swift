import MediaTime
import Testing

@testable import Stitching

@Suite("Times of the output's pictures")
struct PictureTimesTests {
    struct Rate: CustomTestStringConvertible, Sendable {
        var name: String
        var numerator: Int32
        var denominator: Int32
        var testDescription: String { name }
    }

    static let rates = [
        Rate(name: "23.976", numerator: 1001, denominator: 24_000),
        Rate(name: "29.97", numerator: 1001, denominator: 30_000),
        Rate(name: "59.94", numerator: 1001, denominator: 60_000),
    ]

    private func place(
        _ count: Int64, step: Int64, source: TimeBase, unit: TimeBase, origin: MediaTime = .zero
    ) throws -> [Int64] {
        var times = try PictureTimes(source: source, unit: unit, origin: origin, shift: .zero, depth: 2)
        var result: [Int64] = []
        let length: Int64 = 10_000
        for first in stride(from: 0, to: count, by: Int(length)) {
            let last = min(count, first + length)
            result += try times.place((first..<last).map { $0 * step }, until: last * step).presentation
        }
        return result
    }

    @Test("Ten hours stay exact to the tick where the unit holds them, and never accumulate rounding", arguments: rates)
    func tenHours(rate: Rate) throws {
        let source = try #require(TimeBase(numerator: 1, denominator: rate.denominator))
        let step = Int64(rate.numerator)
        let count = 36_000 * Int64(rate.denominator) / step
        let movie = try place(count, step: step, source: source, unit: OutputContainer(.mp4).videoTimeBase(source))
        #expect(movie.last == (count - 1) * step)
        #expect(zip(movie, movie.dropFirst()).allSatisfy { $1 - $0 == step })
        // 90 kHz holds 29.97 exactly, and the others to half a tick, which is what one rounding costs.
        for unit in [OutputContainer(.mpegTS).videoTimeBase(source), OutputContainer(.matroska).videoTimeBase(source)] {
            let times = try place(count, step: step, source: source, unit: unit)
            let scale = Int64(rate.denominator)
            let errors = times.enumerated().map { number, time in
                abs(time * scale - Int64(number) * step * Int64(unit.denominator))
            }
            #expect((errors.max() ?? .max) * 2 <= scale)
        }
    }

    @Test(
        "Two pictures a microsecond apart stay two: at their own times in a movie, a tick apart and named in Matroska")
    func microsecond() throws {
        let source = try #require(TimeBase(numerator: 1, denominator: 1_000_000))
        let times: [Int64] = [0, 40_000, 40_001, 80_000]
        for (container, expected, move) in [
            (OutputContainer(.mov), times, MediaTime.zero), (OutputContainer(.mp4), times, .zero),
            (OutputContainer(.matroska), [0, 40, 41, 80], MediaTime(value: 1, timescale: 1000)),
            (OutputContainer(.mpegTS), [0, 3600, 3601, 7200], MediaTime(value: 1, timescale: 90_000)),
        ] {
            var placed = try PictureTimes(
                source: source, unit: container.videoTimeBase(source), origin: .zero, shift: .zero, depth: 0)
            #expect(try placed.place(times, until: 120_000).presentation == expected)
            #expect(placed.largestMove == move)
            #expect(placed.moves == (move == .zero ? [:] : [40_001: [1]]))
        }
    }

    @Test("Of pictures at one time the first stays, and each move is told")
    func equalTimes() throws {
        var placed = try PictureTimes(
            source: .milliseconds, unit: .milliseconds, origin: .zero, shift: .zero, depth: 0)
        #expect(try placed.place([0, 40, 40, 40, 41, 80], until: 120).presentation == [0, 40, 41, 42, 43, 80])
        #expect(placed.moves == [40: [0, 1, 2], 41: [2]])
    }

    @Test(
        "Sound that begins between two ticks of the picture costs one rounding to the output's tick, not one of the source's"
    )
    func originBetweenTicks() throws {
        let origin = MediaTime(value: -1105, timescale: 44_100)
        var times = try PictureTimes(source: .milliseconds, unit: .mpeg, origin: origin, shift: .zero, depth: 0)
        // 40 ms + 1105/44100 s = 5855.1 ticks.
        #expect(try times.place([0, 40], until: 80).presentation == [2255, 5855])
    }

    @Test("Large and negative starts move to zero without loss", arguments: [-(1 << 40), -7, 3, 1 << 40] as [Int64])
    func starts(first: Int64) throws {
        let source = try #require(TimeBase(numerator: 1, denominator: 30_000))
        var times = try PictureTimes(
            source: source, unit: source, origin: try MediaTime(ticks: first, in: source), shift: .zero, depth: 1)
        let placed = try times.place([0, 2002, 1001].map { first + $0 }, until: first + 3003)
        #expect(placed.presentation == [0, 2002, 1001])
        #expect(placed.decode == [-1001, 0, 1001])
        #expect(placed.durations == [1001, 1001, 1001])
    }
}
