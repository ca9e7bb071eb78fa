import MediaTime
import Support
import Testing

@testable import SourceAccess

@Suite("One time line for a program")
struct ProgramClockTests {
    private static let wrap: Int64 = 1 << 33
    private static let frame: Int64 = 3_600
    private static let packet: Int64 = 1_920

    private struct Event: Hashable {
        var track: Int
        /// On an ideal clock that never jumps.
        var ideal: Int64
        var raw: Int64
        var duration: Int64
    }

    /// Picture (0) and sound (1) from `start` on, in the order of their times; the sound begins `lead` later.
    private static func piece(
        ideal: Int64, raw: Int64, seconds: Int64, lead: Int64 = 0, skip: (Int, Int64) -> Bool = { _, _ in false }
    ) -> [Event] {
        var events: [Event] = []
        for (track, length, first) in [(0, frame, Int64(0)), (1, packet, lead)] {
            for time in stride(from: first, to: seconds * 90_000, by: Int64.Stride(length)) where !skip(track, time) {
                let unwrapped = raw + time
                events.append(
                    Event(
                        track: track, ideal: ideal + time, raw: (unwrapped % wrap + wrap) % wrap, duration: length))
            }
        }
        return events.sorted { ($0.ideal, $0.track) < ($1.ideal, $1.track) }
    }

    private static func run(_ events: [Event]) -> (times: [Event: Int64], order: [Event], jumps: Int) {
        var clock = ProgramClock<Event>(timeBase: .mpeg)
        var placed = events.flatMap { event in
            clock.add(event, .init(track: event.track, dts: event.raw, pts: event.raw, duration: event.duration))
        }
        placed += clock.finish()
        let times = Dictionary(placed.map { ($0.item, $0.dts ?? .min) }, uniquingKeysWith: { first, _ in first })
        return (times, placed.map(\.item), clock.jumps)
    }

    /// Placed minus ideal, for each track: one number where the whole time line moved alike.
    private static func shifts(_ events: [Event], _ times: [Event: Int64]) -> [Set<Int64>] {
        [0, 1].map { track in Set(events.filter { $0.track == track }.map { (times[$0] ?? .min) - $0.ideal }) }
    }

    @Test(
        "A few samples with a damaged time are no jump of the clock: they stay where they are", arguments: [0, 1],
        [1, 3])
    func stray(track: Int, count: Int) {
        for error: Int64 in [-5 * 90_000, 30 * 90_000, Self.wrap / 2] {
            var events = Self.piece(ideal: 0, raw: 900_000, seconds: 8)
            let places = events.indices.filter { events[$0].track == track }.dropFirst(40).prefix(count)
            for index in places { events[index].raw = (events[index].raw + error + Self.wrap) % Self.wrap }
            let (times, order, jumps) = Self.run(events)
            #expect(jumps == 0 && order == events)
            #expect(Self.shifts(events, times) == [[900_000], [900_000]], "\(error)")
        }
    }

    @Test("Several 33-bit wraps, each met by picture and sound at their own sample, leave no trace")
    func wraps() {
        // More than three times 2³³ ticks, in frames of 6.7 s.
        let step: Int64 = 600_000
        var events: [Event] = []
        let first = Self.wrap - 7 * step
        for number in 0..<Int64(45_000) {
            for track in [0, 1] {
                let time = first + number * step + (track == 1 ? step / 3 : 0)
                events.append(Event(track: track, ideal: time, raw: time % Self.wrap, duration: step))
            }
        }
        let (times, _, jumps) = Self.run(events)
        #expect(jumps == 0)
        #expect(Self.shifts(events, times) == [[0], [0]])
    }

    @Test("A picture that pauses while sound runs on has paused, however long", arguments: [0, 1])
    func pause(track: Int) {
        let events = Self.piece(ideal: 1_000_000, raw: 1_000_000, seconds: 60) { which, time in
            which == track && time > 900_000 && time < 40 * 90_000
        }
        let (times, order, jumps) = Self.run(events)
        #expect(jumps == 0)
        #expect(Self.shifts(events, times) == [[0], [0]])
        #expect(order == events)
    }

    @Test(
        "Joined pieces keep picture and sound in step, overlap nowhere and leave in the file's order",
        arguments: 0..<60 as Range<UInt64>)
    func pieces(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var events: [Event] = []
        var pieces: [[Event]] = []
        for number in 0..<Int64(5) {
            let raw = Int64.random(in: 0..<Self.wrap, using: &random)
            let lead = Int64.random(in: -20_000...20_000, using: &random)
            let seconds = Int64.random(in: 3...8, using: &random)
            // A multiplexer brings sound up to half a second late.
            let late = Int64.random(in: 0...45_000, using: &random)
            let piece = Self.piece(ideal: number << 40, raw: raw, seconds: seconds, lead: lead)
                .sorted { ($0.ideal + ($0.track == 1 ? late : 0)) < ($1.ideal + ($1.track == 1 ? late : 0)) }
            pieces.append(piece)
            events += piece
        }
        let (times, order, jumps) = Self.run(events)
        #expect(jumps == 4, "seed \(seed)")
        #expect(order == events, "seed \(seed)")
        for piece in pieces {
            let shifts = Self.shifts(piece, times)
            #expect(shifts[0].count == 1 && shifts[0] == shifts[1], "seed \(seed)")
        }
        for track in [0, 1] {
            let line = events.filter { $0.track == track }.map { (times[$0] ?? .min, $0.duration) }
            #expect(zip(line, line.dropFirst()).allSatisfy { $1.0 >= $0.0 + $0.1 }, "seed \(seed)")
        }
    }

    @Test("The last samples of a piece that come after the first of the next still belong to theirs")
    func straggler() {
        var events = Self.piece(ideal: 0, raw: 5_000_000, seconds: 4)
        let second = Self.piece(ideal: 1 << 40, raw: 100_000_000, seconds: 4)
        let last = events.lastIndex { $0.track == 0 } ?? 0
        let late = events.remove(at: last)
        let sounds = second.filter { $0.track == 1 }.prefix(3)
        events += sounds + [late] + second.filter { !sounds.contains($0) }
        let (times, _, jumps) = Self.run(events)
        #expect(jumps == 1)
        #expect(Set(events.filter { $0.ideal < 1 << 40 }.map { (times[$0] ?? 0) - $0.ideal }) == [5_000_000])
    }

    @Test("One wrong time does not move what comes after it")
    func outlier() {
        var events = Self.piece(ideal: 0, raw: 0, seconds: 30)
        let wrong = events.indices.filter { events[$0].track == 0 }[200]
        events[wrong].raw = 4_000_000_000
        let (times, _, _) = Self.run(events)
        let rest = events.enumerated().filter { $0.offset != wrong }.map(\.element)
        #expect(Self.shifts(rest, times) == [[0], [0]])
    }

    @Test("A sample without a time changes nothing, and extreme times do not trap")
    func untimed() {
        var clock = ProgramClock<Int>(timeBase: .mpeg)
        var count = 0
        for (number, time) in ([.max, nil, .min, 0, nil, .max, -1, .min] as [Int64?]).enumerated() {
            count += clock.add(number, .init(track: number % 2, dts: time, pts: time, duration: .max)).count
        }
        count += clock.finish().count
        #expect(count == 8)
    }
}
