import ClusterProtocol
import Support
import Testing

@testable import Stitching

@Suite("Decode times of a whole track")
struct DecodeTimelineTests {
    /// Segments of a made-up track, each in decode order, reordered by at most `depth` places.
    private struct Track {
        var depth: Int
        var segments: [[Int64]]

        init(seed: UInt64) {
            var random = SeededRandom(seed: seed)
            depth = Int.random(in: 0...5, using: &random)
            var time = Int64.random(in: -100_000...100_000, using: &random)
            segments = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                var sorted: [Int64] = []
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    sorted.append(time)
                    time += Int64.random(in: 1...3_000, using: &random)
                }
                segments.append(Self.reordered(sorted, depth: depth, using: &random))
            }
        }

        /// Any order in which nothing comes more than `depth` places after its turn.
        private static func reordered(
            _ sorted: [Int64], depth: Int, using random: inout SeededRandom
        ) -> [Int64] {
            var waiting = Array(sorted.enumerated())
            var order: [Int64] = []
            while let first = waiting.first {
                let isDue = first.offset <= order.count - depth
                let choice = isDue ? 0 : Int.random(in: 0..<min(waiting.count, depth + 1), using: &random)
                order.append(waiting.remove(at: choice).element)
            }
            return order
        }

        var decodeTimes: [Int64] {
            get throws {
                var timeline = DecodeTimeline(depth: depth)
                return try segments.flatMap { try timeline.decodeTimes(for: $0) }
            }
        }
    }

    @Test("Decode times rise strictly and never lie above presentation times", arguments: 0..<200 as Range<UInt64>)
    func strictlyRising(seed: UInt64) throws {
        let track = Track(seed: seed)
        let times = try track.decodeTimes
        let presentation = track.segments.flatMap { $0 }
        #expect(times.count == presentation.count)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
        #expect(zip(times, presentation).allSatisfy { $0 <= $1 }, "seed \(seed)")
    }

    @Test("The reorder delay is paid once, at the start of the file", arguments: 0..<200 as Range<UInt64>)
    func oneDelay(seed: UInt64) throws {
        let track = Track(seed: seed)
        let times = try track.decodeTimes
        let sorted = track.segments.flatMap { $0 }.sorted()
        #expect(Array(times.dropFirst(track.depth)) == Array(sorted.dropLast(track.depth)), "seed \(seed)")
    }

    @Test("How a track is cut does not change its decode times", arguments: 0..<100 as Range<UInt64>)
    func independentOfCuts(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let times = (0..<60).map { Int64($0) * 1001 }
        var whole = DecodeTimeline(depth: 2)
        let expected = try whole.decodeTimes(for: times)
        var cut = DecodeTimeline(depth: 2)
        var rest = times[...]
        var found: [Int64] = []
        while !rest.isEmpty {
            let count = Int.random(in: 2...20, using: &random)
            found += try cut.decodeTimes(for: Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(found == expected, "seed \(seed)")
    }

    @Test(
        "The depth is the most samples that precede one in decode order and follow it in presentation order",
        arguments: 0..<200 as Range<UInt64>)
    func depth(seed: UInt64) {
        for segment in Track(seed: seed).segments {
            let counted = segment.indices.map { index in segment[..<index].count { $0 > segment[index] } }.max() ?? 0
            #expect(DecodeTimeline.depth(of: segment) == counted, "seed \(seed)")
        }
    }

    @Test("The depth of a track suffices and one less does not", arguments: 0..<100 as Range<UInt64>)
    func least(seed: UInt64) throws {
        for segment in Track(seed: seed).segments {
            let depth = DecodeTimeline.depth(of: segment)
            var enough = DecodeTimeline(depth: depth)
            _ = try enough.decodeTimes(for: segment)
            guard depth > 0 else { continue }
            var short = DecodeTimeline(depth: depth - 1)
            let failure = #expect(throws: Failure.self) { try short.decodeTimes(for: segment) }
            #expect(failure?.code == ReorderDepthExceeded.code, "seed \(seed)")
        }
    }

    @Test("A picture before the end of the segment before is a timing failure")
    func overlap() throws {
        var timeline = DecodeTimeline(depth: 0)
        _ = try timeline.decodeTimes(for: [0, 10, 20])
        let failure = #expect(throws: Failure.self) { try timeline.decodeTimes(for: [20, 30]) }
        #expect(failure?.boundary == .timing)
    }

    @Test("No samples need no times")
    func empty() throws {
        var timeline = DecodeTimeline(depth: 3)
        #expect(try timeline.decodeTimes(for: []).isEmpty)
        #expect(try timeline.decodeTimes(for: [7]) == [4])
        #expect(DecodeTimeline.depth(of: []) == 0)
    }

    @Test("The times before the first picture step back by the shortest frame of the first segment")
    func shortestStep() throws {
        var timeline = DecodeTimeline(depth: 2)
        #expect(try timeline.decodeTimes(for: [0, 1000, 1040, 1080]) == [-80, -40, 0, 1000])
    }

    @Test("A first time at the end of the number range is refused")
    func outOfRange() {
        var timeline = DecodeTimeline(depth: 2)
        #expect(throws: Failure.self) { try timeline.decodeTimes(for: [.min + 1, .min + 3]) }
    }
}
