import MediaTime
import SegmentPlan
import Testing

@Suite struct DoubtfulKeyframeTests {
    @Test("a doubtful keyframe nearer to the target is passed over for a clean one")
    func prefersClean() throws {
        let index = Fixture.index(
            [Fixture.keyframe(0), Fixture.keyframe(10_000, .doubtful), Fixture.keyframe(14_000)], end: 30_000)
        #expect(try SegmentPlan.make(index: index).starts == [0, 14_000])
    }

    @Test("up to twice the target nothing doubtful is cut at, beyond it decoding enters at the last clean one")
    func onlyWhenLong() throws {
        func plan(cleanAt pts: Int64) throws -> SegmentPlan {
            try SegmentPlan.make(
                index: Fixture.index(
                    [Fixture.keyframe(0), Fixture.keyframe(10_000, .recovery(frames: 12)), Fixture.keyframe(pts)],
                    end: 50_000))
        }
        #expect(try plan(cleanAt: 20_000).starts == [0, 20_000])
        let long = try plan(cleanAt: 20_001)
        #expect(long.starts == [0, 10_000, 20_001])
        #expect(long.segments[1].entry.pts == 0 && long.segments[1].keyframe.pts == 10_000)
        #expect(long.segments[2].entry.pts == 20_001)
        #expect(
            long.notes == [
                .longSegments(count: 1, longest: MediaTime(value: 29_999, timescale: 1000)), .preRoll(segments: 1),
            ])
    }

    @Test("pre-roll enters at a clean keyframe too early to be a boundary")
    func nearestCleanEntry() throws {
        let index = Fixture.index(
            [Fixture.keyframe(0), Fixture.keyframe(1000), Fixture.keyframe(10_000, .doubtful)], end: 30_000)
        let plan = try SegmentPlan.make(index: index)
        #expect(plan.starts == [0, 10_000] && plan.segments[1].entry.pts == 1000)
    }

    @Test("a doubtful cut leaves the next clean keyframe in reach")
    func keepsCleanReachable() throws {
        let index = Fixture.index(
            [Fixture.keyframe(0), Fixture.keyframe(20_500, .doubtful), Fixture.keyframe(21_000)], end: 30_000)
        #expect(try SegmentPlan.make(index: index).starts == [0, 21_000])
    }

    @Test("with one clean keyframe in ten hours the decoding stays within five times the track")
    func boundedPreRoll() throws {
        let hours: Int64 = 36_000_000
        var keyframes = stride(from: Int64(0), to: hours, by: 1000).map { Fixture.keyframe($0, .recovery(frames: 24)) }
        keyframes[0].kind = .clean
        let plan = try SegmentPlan.make(index: Fixture.index(keyframes, end: hours))
        #expect(plan.segments.count > 20)
        #expect(plan.segments.dropFirst().allSatisfy { $0.entry.pts == 0 })
        let decoded = plan.segments.reduce(0) { $0 + $1.end - $1.entry.pts }
        #expect(decoded <= 5 * hours)
    }

    @Test("where no keyframe is clean, decoding enters at the track's first")
    func neverClean() throws {
        let keyframes = stride(from: Int64(0), to: 60_000, by: 10_000).map { Fixture.keyframe($0, .doubtful) }
        let plan = try SegmentPlan.make(index: Fixture.index(keyframes, end: 60_000))
        #expect(plan.segments.count > 1)
        #expect(plan.segments.allSatisfy { $0.entry == keyframes[0] })
    }

    @Test("keyframes out of order or after the end are not used, and said so")
    func ignored() throws {
        let plan = try SegmentPlan.make(
            index: Fixture.index(at: [0, 10_000, 10_000, 9000, 20_000, 30_000], end: 30_000))
        #expect(plan.starts == [0, 10_000, 20_000] && plan.notes == [.ignoredKeyframes(count: 3)])
    }
}
