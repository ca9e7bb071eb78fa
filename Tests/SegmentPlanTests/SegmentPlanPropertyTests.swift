import Foundation
import MediaTime
import SegmentPlan
import Support
import Testing

/// A random index with the settings to plan it by.
private struct Case: CustomStringConvertible {
    var index: KeyframeIndex
    var target: Int64
    var minimum: Int64
    var start: Int64?
    var end: Int64?

    init(using random: inout SeededRandom) {
        let scale = Int64.random(in: 1...3000, using: &random)
        var pts = Int64.random(in: -5 * scale...5 * scale, using: &random)
        let isSloppy = Int.random(in: 0..<4, using: &random) == 0
        let doubt = max(0, Double.random(in: -0.5...1, using: &random))
        var keyframes: [Keyframe] = []
        for number in 0..<Int.random(in: 0..<60, using: &random) {
            let kind: Keyframe.Kind =
                if Double.random(in: 0..<1, using: &random) < doubt {
                    Bool.random(using: &random) ? .recovery(frames: 9) : .doubtful
                } else {
                    Bool.random(using: &random) ? .clean : .open
                }
            keyframes.append(Fixture.keyframe(pts, kind, ordinal: number * 10 + (isSloppy ? 5 : 0)))
            pts += Int64.random(in: (isSloppy ? -scale : 1)...4 * scale, using: &random)
        }
        let start = Int64.random(in: -4 * scale...4 * scale, using: &random)
        let end = start + Int64.random(in: 1...max(2, 2 * (pts.magnitude > 0 ? abs(pts) : 1)), using: &random)
        index = Fixture.index(keyframes, start: start, end: end)
        minimum = Int64.random(in: 0...2 * scale, using: &random)
        target = Int64.random(in: 1...10 * scale, using: &random)
        if Bool.random(using: &random) { self.start = Int64.random(in: start..<end, using: &random) }
        if Bool.random(using: &random) { self.end = Int64.random(in: (self.start ?? start) + 1...end, using: &random) }
    }

    var isRising: Bool { zip(index.keyframes, index.keyframes.dropFirst()).allSatisfy { $0.pts < $1.pts } }

    func plan() throws -> SegmentPlan {
        try SegmentPlan.make(
            index: index, target: MediaTime(value: target, timescale: 1000),
            minimum: MediaTime(value: minimum, timescale: 1000), start: start, end: end)
    }

    var description: String {
        "target \(target) minimum \(minimum) range \(start ?? index.start)..<\(end ?? index.end) of "
            + "\(index.start)..<\(index.end): \(index.keyframes.map { "\($0.pts) \($0.kind)" })"
    }
}

@Suite struct SegmentPlanPropertyTests {
    private func forEachPlan(seed: UInt64, _ body: (Case, SegmentPlan) throws -> Void) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<4000 {
            let sample = Case(using: &random)
            try body(sample, sample.plan())
        }
    }

    @Test("segments tile the range in order, without gap or overlap")
    func tiling() throws {
        try forEachPlan(seed: 1) { sample, plan in
            let segments = plan.segments
            #expect(segments.first?.start == sample.start ?? sample.index.start, "\(sample)")
            #expect(segments.last?.end == sample.end ?? sample.index.end, "\(sample)")
            #expect(segments.map(\.index) == Array(segments.indices))
            #expect(segments.allSatisfy { $0.start < $0.end }, "\(sample)")
            for (earlier, later) in zip(segments, segments.dropFirst()) {
                #expect(earlier.end == later.start, "\(sample)")
                #expect(earlier.next == later.keyframe, "\(sample)")
            }
        }
    }

    @Test("every boundary is a keyframe of the source")
    func boundaries() throws {
        try forEachPlan(seed: 2) { sample, plan in
            let known = Set(sample.index.keyframes)
            for segment in plan.segments.dropFirst() {
                #expect(segment.keyframe.pts == segment.start && known.contains(segment.keyframe), "\(sample)")
            }
        }
    }

    @Test("no segment is shorter than the minimum but one that is the whole range")
    func minimum() throws {
        try forEachPlan(seed: 3) { sample, plan in
            guard plan.segments.count > 1 else { return }
            #expect(plan.segments.allSatisfy { $0.end - $0.start >= sample.minimum }, "\(sample)")
        }
    }

    @Test("decoding enters at the segment's usable keyframe, or at the last usable one before it")
    func entries() throws {
        try forEachPlan(seed: 4) { sample, plan in
            for segment in plan.segments.dropFirst() {
                if segment.keyframe.kind.isUsable {
                    #expect(segment.entry == segment.keyframe, "\(sample)")
                    continue
                }
                let opening = plan.segments[0].entry
                #expect(segment.entry.pts < segment.start || segment.entry == opening, "\(sample)")
                #expect(segment.entry.kind.isUsable || segment.entry == opening, "\(sample)")
                guard sample.isRising else { continue }
                let nearer = sample.index.keyframes.filter {
                    $0.kind.isUsable && $0.pts > segment.entry.pts && $0.pts < segment.start
                }
                #expect(nearer.isEmpty, "\(sample)")
            }
        }
    }

    @Test("a doubtful boundary stands only where no usable one lies within twice the target")
    func doubtfulBoundaries() throws {
        var seen = 0
        try forEachPlan(seed: 5) { sample, plan in
            let target = max(sample.target, sample.minimum, 1)
            guard sample.isRising else { return }
            for (segment, next) in zip(plan.segments, plan.segments.dropFirst()) where !next.keyframe.kind.isUsable {
                let inReach = sample.index.keyframes.filter {
                    $0.kind.isUsable && $0 != plan.segments[0].keyframe
                        && $0.pts >= segment.start + max(1, sample.minimum) && $0.pts <= segment.start + 2 * target
                        && $0.pts < plan.segments[plan.segments.count - 1].end
                }
                #expect(inReach.isEmpty, "\(sample)")
                seen += 1
            }
        }
        #expect(seen > 500)
    }

    @Test("a segment longer than twice the target has no usable keyframe to be cut at")
    func longSegments() throws {
        var seen = 0
        try forEachPlan(seed: 6) { sample, plan in
            let target = max(sample.target, sample.minimum, 1)
            guard sample.index.keyframes.allSatisfy(\.kind.isUsable) else { return }
            guard sample.isRising else { return }
            let minimum = max(1, sample.minimum)
            for segment in plan.segments where segment.end - segment.start > 2 * target {
                let missed = sample.index.keyframes.filter {
                    $0 != plan.segments[0].keyframe && $0.pts >= segment.start + minimum
                        && $0.pts <= segment.end - minimum
                }
                #expect(missed.isEmpty, "\(sample)")
                seen += 1
            }
        }
        #expect(seen > 100)
    }

    @Test("the same source and settings give the same plan, which survives JSON")
    func determinism() throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<300 {
            let sample = Case(using: &random)
            let plan = try sample.plan()
            #expect(try sample.plan() == plan)
            #expect(try JSONDecoder().decode(SegmentPlan.self, from: JSONEncoder().encode(plan)) == plan)
        }
    }

    @Test("no index and no setting traps")
    func neverTraps() throws {
        var random = SeededRandom(seed: 8)
        let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, 2, 1000, .max - 1, .max]
        for _ in 0..<20_000 {
            func number() -> Int64 {
                Bool.random(using: &random)
                    ? extremes.randomElement(using: &random) ?? 0 : Int64.random(in: .min ... .max, using: &random)
            }
            var times = (0..<Int.random(in: 0..<8, using: &random)).map { _ in number() }
            if Bool.random(using: &random) { times.sort() }
            let kinds: [Keyframe.Kind] = [.clean, .open, .doubtful, .recovery(frames: .max)]
            let keyframes = times.map {
                Fixture.keyframe(
                    $0, kinds.randomElement(using: &random) ?? .clean, ordinal: Int(truncatingIfNeeded: $0))
            }
            let index = Fixture.index(keyframes, start: number(), end: number())
            let lengths = [
                MediaTime(value: number(), timescale: 1000), MediaTime(value: number(), timescale: .max),
                .positiveInfinity, SegmentPlan.defaultTarget, MediaTime(value: 1, timescale: .max),
            ]
            let plan = try? SegmentPlan.make(
                index: index, target: lengths.randomElement(using: &random) ?? .zero,
                minimum: lengths.randomElement(using: &random) ?? .zero,
                start: Bool.random(using: &random) ? number() : nil, end: Bool.random(using: &random) ? number() : nil)
            if let plan {
                #expect(zip(plan.segments, plan.segments.dropFirst()).allSatisfy { $0.end == $1.start })
                _ = plan.notes.map(\.message)
            }
        }
    }

    @Test("half a million keyframes are planned in one pass", .timeLimit(.minutes(1)), arguments: [false, true])
    func large(_ doubtful: Bool) throws {
        let count: Int64 = 500_000
        var keyframes = (0..<count).map { Fixture.keyframe($0 * 1000, doubtful && $0 % 60 != 0 ? .doubtful : .clean) }
        keyframes[0].kind = .clean
        let plan = try SegmentPlan.make(index: Fixture.index(keyframes, end: count * 1000))
        #expect(plan.segments.count > 30_000)
    }
}
