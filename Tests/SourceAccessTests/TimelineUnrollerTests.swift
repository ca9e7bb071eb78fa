import MediaTime
import Support
import Testing

@testable import SourceAccess

@Suite("One time line from raw times")
struct TimelineUnrollerTests {
    private static let wrap: Int64 = 1 << 33

    private func unrolled(_ raw: [Int64], duration: Int64 = 3_600) -> [Int64] {
        var unroller = TimelineUnroller(timeBase: .mpeg, isEnabled: true)
        return raw.map { $0 + unroller.offset(forRawDTS: $0, duration: duration) }
    }

    @Test("A 33-bit wrap leaves no gap and no step back", arguments: 0..<50 as Range<UInt64>)
    func wraps(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let first = Self.wrap - Int64.random(in: 1...3_600 * 50, using: &random)
        let times = (0..<100).map { first + Int64($0) * 3_600 }
        #expect(unrolled(times.map { $0 % Self.wrap }) == times, "seed \(seed)")
    }

    @Test("A time line that starts again goes on one sample later")
    func restart() {
        #expect(unrolled([900_000, 903_600, 0, 3_600]) == [900_000, 903_600, 907_200, 910_800])
        #expect(unrolled([0, 3_600, 9_000_000, 9_003_600]) == [0, 3_600, 7_200, 10_800])
    }

    @Test("Small steps back and pauses of a few seconds are the source's own times")
    func irregular() {
        let raw: [Int64] = [0, 3_600, 1_000, 7_200, 7_200 + 5 * 90_000]
        #expect(unrolled(raw) == raw)
    }

    @Test("Where a container's times are one line by definition, no jump is touched")
    func disabled() {
        var unroller = TimelineUnroller(timeBase: .mpeg, isEnabled: false, offset: 17)
        for time in [0, 1 << 40, 0, .max, .min] as [Int64] {
            #expect(unroller.offset(forRawDTS: time, duration: 1) == 17)
        }
    }

    @Test("A sample without a time changes nothing, and extreme times do not trap")
    func untimed() {
        var unroller = TimelineUnroller(timeBase: .mpeg, isEnabled: true)
        #expect(unroller.offset(forRawDTS: 1_000, duration: 3_600) == 0)
        #expect(unroller.offset(forRawDTS: nil, duration: 3_600) == 0)
        for time in [.max, .min, 0, .max, -1, .min] as [Int64] { _ = unroller.offset(forRawDTS: time, duration: .max) }
    }

    /// Raw decode times with wraps, restarts and jumps, and irregular frame lengths.
    private func pieces(seed: UInt64) -> [(dts: Int64, duration: Int64)] {
        var random = SeededRandom(seed: seed)
        var time = Int64.random(in: 0..<Self.wrap, using: &random)
        return (0..<300).map { _ in
            let duration = Int64.random(in: 1_000...9_000, using: &random)
            let item = (dts: time, duration: duration)
            let isJump = Int.random(in: 0..<30, using: &random) == 0
            time = isJump ? Int64.random(in: 0..<Self.wrap, using: &random) : (time + duration) % Self.wrap
            return item
        }
    }

    @Test("Whatever the pieces, the line rises", arguments: 0..<100 as Range<UInt64>)
    func rising(seed: UInt64) {
        var unroller = TimelineUnroller(timeBase: .mpeg, isEnabled: true)
        let times = pieces(seed: seed).map { $0.dts + unroller.offset(forRawDTS: $0.dts, duration: $0.duration) }
        // A jump within ten seconds ahead or half a second back is an irregular sample and stays what it is.
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 > -45_000 && $1 - $0 <= 900_000 }, "seed \(seed)")
    }

    @Test(
        "A reader that starts at a sample of known offset takes the offsets of a scan from the beginning",
        arguments: 0..<100 as Range<UInt64>)
    func startsAnywhere(seed: UInt64) {
        let items = pieces(seed: seed)
        var scan = TimelineUnroller(timeBase: .mpeg, isEnabled: true)
        let offsets = items.map { scan.offset(forRawDTS: $0.dts, duration: $0.duration) }
        var random = SeededRandom(seed: ~seed)
        let start = Int.random(in: 0..<items.count, using: &random)
        var reader = TimelineUnroller(timeBase: .mpeg, isEnabled: true, offset: offsets[start])
        let found = items[start...].map { reader.offset(forRawDTS: $0.dts, duration: $0.duration) }
        #expect(found == Array(offsets[start...]), "seed \(seed)")
    }
}
