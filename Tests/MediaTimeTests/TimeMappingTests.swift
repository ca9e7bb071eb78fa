import Foundation
import MediaTime
import Support
import Testing

@Suite struct TimeMappingTests {
    private func range(_ start: Int64, _ end: Int64, _ timescale: Int32 = 1) throws -> TimeRange {
        try TimeRange(
            start: MediaTime(value: start, timescale: timescale), end: MediaTime(value: end, timescale: timescale))
    }

    @Test("ends map to ends and the middle to the middle, exactly")
    func scaled() throws {
        let mapping = TimeMapping(source: try range(10, 20), target: try range(100, 103))
        #expect(try mapping.map(MediaTime(value: 10, timescale: 1)) == MediaTime(value: 100, timescale: 1))
        #expect(try mapping.map(MediaTime(value: 20, timescale: 1)) == MediaTime(value: 103, timescale: 1))
        let third = try mapping.map(MediaTime(value: 11, timescale: 1))
        #expect(third == MediaTime(value: 1003, timescale: 10) && !third.hasBeenRounded)
        #expect(try mapping.sourceTime(at: third) == MediaTime(value: 11, timescale: 1))
        #expect(!mapping.isUnscaled)
    }

    @Test("equal durations are an offset, infinite ones too")
    func offset() throws {
        let infinite = TimeMapping(
            source: try TimeRange(start: MediaTime(value: 5, timescale: 1), duration: .positiveInfinity),
            target: try TimeRange(start: .zero, duration: .positiveInfinity))
        #expect(try infinite.map(MediaTime(value: 7, timescale: 1)) == MediaTime(value: 2, timescale: 1))
        #expect(infinite.isUnscaled)
    }

    @Test("an empty edit has no source time and a dwell one target time")
    func emptyAndDwell() throws {
        let empty = TimeMapping(emptyOver: try range(0, 5))
        #expect(empty.isEmptyEdit)
        #expect(throws: MediaTimeError.emptyMapping) { try empty.map(.zero) }
        let dwell = TimeMapping(source: try range(3, 3), target: try range(0, 5))
        #expect(try dwell.map(MediaTime(value: 3, timescale: 1)) == .zero)
        #expect(try dwell.sourceTime(at: MediaTime(value: 4, timescale: 1)) == MediaTime(value: 3, timescale: 1))
    }

    @Test("what cannot be mapped exactly is rounded and marked")
    func rounded() throws {
        let mapping = TimeMapping(source: try range(0, 2_147_483_629), target: try range(0, 2_147_483_587))
        let time = try mapping.map(MediaTime(value: 1, timescale: 90000))
        #expect(time.hasBeenRounded)
    }

    @Test("mapping there and back returns the time where nothing was rounded")
    func roundTrip() throws {
        var random = SeededRandom(seed: 0x3A9)
        for _ in 0..<5_000 {
            let source = try range(
                Int64.random(in: 0..<100, using: &random), Int64.random(in: 101..<900, using: &random))
            let target = try range(
                Int64.random(in: 0..<90000, using: &random), Int64.random(in: 90001..<900_000, using: &random), 90000)
            let mapping = TimeMapping(source: source, target: target)
            let time = MediaTime(value: Int64.random(in: -50000..<50000, using: &random), timescale: 48)
            guard let mapped = try? mapping.map(time), !mapped.hasBeenRounded else { continue }
            #expect(try mapping.sourceTime(at: mapped) == time)
        }
    }

    @Test("a time outside the source goes on in the same straight line")
    func beyond() throws {
        let mapping = TimeMapping(source: try range(0, 10), target: try range(0, 20))
        #expect(try mapping.map(MediaTime(value: -1, timescale: 1)) == MediaTime(value: -2, timescale: 1))
        #expect(try mapping.map(MediaTime(value: 11, timescale: 1)) == MediaTime(value: 22, timescale: 1))
    }

    @Test("a time of another epoch, no number, or an infinite scale is refused")
    func refused() throws {
        let mapping = TimeMapping(source: try range(0, 10), target: try range(0, 20))
        #expect(throws: MediaTimeError.differentEpochs) {
            try mapping.map(MediaTime(value: 1, timescale: 1, epoch: 1))
        }
        #expect(throws: MediaTimeError.notNumeric) { try mapping.map(.indefinite) }
        let endless = TimeMapping(
            source: try range(0, 10), target: try TimeRange(start: .zero, duration: .positiveInfinity))
        #expect(throws: MediaTimeError.notNumeric) { try endless.map(.zero) }
    }

    @Test("a mapping survives JSON, an empty edit too")
    func codable() throws {
        for mapping in [
            TimeMapping(source: try range(1, 2), target: try range(3, 9)), TimeMapping(emptyOver: try range(0, 1)),
        ] {
            #expect(try JSONDecoder().decode(TimeMapping.self, from: JSONEncoder().encode(mapping)) == mapping)
        }
    }

    @Test("no range of extreme numbers traps a mapping")
    func neverTraps() {
        var random = SeededRandom(seed: 0xFA11)
        var mapped = 0
        for _ in 0..<30_000 {
            func number() -> MediaTime {
                MediaTime(
                    value: random.extremeValue() >> Int64.random(in: 0..<60, using: &random),
                    timescale: max(1, random.anyTimescale()))
            }
            let (a, b, c, d) = (number(), number(), number(), number())
            guard let source = try? TimeRange(start: min(a, b), end: max(a, b)),
                let target = try? TimeRange(start: min(c, d), end: max(c, d)),
                let time = try? TimeMapping(source: source, target: target).map(number())
            else { continue }
            #expect(time.isNumeric)
            mapped += 1
        }
        #expect(mapped > 500)
    }
}
