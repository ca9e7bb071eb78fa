import Foundation
import MediaTime
import Support
import Testing

@Suite struct TimeRangeTests {
    private func time(_ value: Int64, _ timescale: Int32 = 1, epoch: Int64 = 0) -> MediaTime {
        MediaTime(value: value, timescale: timescale, epoch: epoch)
    }

    private func range(_ start: Int64, _ end: Int64, epoch: Int64 = 0) throws -> TimeRange {
        try TimeRange(start: time(start, epoch: epoch), end: time(end, epoch: epoch))
    }

    @Test("a range contains its start and never its end")
    func halfOpen() throws {
        let range = try range(2, 5)
        #expect(range.contains(time(2)) && range.contains(time(9, 2)))
        #expect(!range.contains(range.end) && !range.contains(time(1)))
        #expect(range.duration == time(3))
    }

    @Test("an empty range contains nothing and overlaps nothing")
    func empty() throws {
        let empty = try range(3, 3)
        #expect(empty.isEmpty && !empty.contains(time(3)))
        #expect(try !range(0, 5).overlaps(empty))
        #expect(try range(0, 5).intersection(empty) == nil)
        #expect(try range(0, 3).contains(empty) && !range(0, 2).contains(empty))
    }

    @Test("what is no range is refused with its reason")
    func refused() throws {
        #expect(throws: MediaTimeError.invalidDuration) { try range(5, 2) }
        #expect(throws: MediaTimeError.invalidDuration) { try TimeRange(start: .zero, duration: time(-1)) }
        #expect(throws: MediaTimeError.invalidDuration) { try TimeRange(start: .zero, duration: time(1, epoch: 1)) }
        #expect(throws: MediaTimeError.notNumeric) { try TimeRange(start: .invalid, duration: time(1)) }
        #expect(throws: MediaTimeError.notNumeric) { try TimeRange(start: .zero, end: .invalid) }
        #expect(throws: MediaTimeError.differentEpochs) { try TimeRange(start: .zero, end: time(1, epoch: 1)) }
        #expect(throws: MediaTimeError.overflow) { try TimeRange(start: time(.max), duration: time(1)) }
    }

    @Test("ranges of different epochs have nothing in common")
    func epochs() throws {
        let (here, there) = (try range(0, 5), try range(0, 5, epoch: 1))
        #expect(there.epoch == 1 && there.duration.epoch == 0 && there.end.epoch == 1)
        #expect(!here.contains(time(1, epoch: 1)) && !here.contains(there) && !here.overlaps(there))
        #expect(try here.intersection(there) == nil)
        #expect(throws: MediaTimeError.differentEpochs) { try here.union(there) }
    }

    @Test("touching ranges do not overlap, and their union closes gaps")
    func setOperations() throws {
        #expect(try range(0, 2).intersection(range(2, 4)) == nil)
        #expect(try range(0, 3).intersection(range(2, 4)) == range(2, 3))
        #expect(try range(0, 1).union(range(3, 4)) == range(0, 4))
    }

    @Test("an unknown or infinite end is after every number")
    func unbounded() throws {
        let live = try TimeRange(start: time(1), duration: .indefinite)
        let forever = try TimeRange(start: time(1), duration: .positiveInfinity)
        #expect(live.end == .indefinite && forever.end == .positiveInfinity)
        #expect(live.contains(time(.max)) && !live.contains(.indefinite) && !forever.contains(.positiveInfinity))
        #expect(try forever.intersection(range(0, 5)) == range(1, 5))
        #expect(forever.contains(live))
    }

    @Test("membership in intersection and union follows from membership in the parts")
    func membership() throws {
        var random = SeededRandom(seed: 0x5E7)
        for _ in 0..<5_000 {
            func number() -> Int64 { Int64.random(in: 0..<12, using: &random) }
            let (a, b) = (number(), number())
            let first = try range(min(a, b), max(a, b))
            let (c, d) = (number(), number())
            let second = try range(min(c, d), max(c, d))
            let (both, either) = (try first.intersection(second), try first.union(second))
            #expect(first.overlaps(second) == (both != nil))
            #expect(either.contains(first) && either.contains(second))
            for half in 0..<Int64(26) {
                let time = time(half, 2)
                #expect((both?.contains(time) ?? false) == (first.contains(time) && second.contains(time)))
                if first.contains(time) || second.contains(time) { #expect(either.contains(time)) }
            }
        }
    }

    @Test("a range survives JSON, and a broken one is a decoding error")
    func codable() throws {
        let original = try range(1, 4, epoch: 2)
        #expect(try JSONDecoder().decode(TimeRange.self, from: JSONEncoder().encode(original)) == original)
        let json = #"{"start":{"value":0,"timescale":1},"duration":{"value":-1,"timescale":1}}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(TimeRange.self, from: Data(json.utf8)) }
    }
}
