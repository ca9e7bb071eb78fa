import MediaTime
import SegmentPlan
import Testing

@Suite struct SegmentPlanTests {
    @Test("short groups are joined until about the target")
    func joins() throws {
        let plan = try SegmentPlan.make(
            index: Fixture.index(at: stride(from: 0, to: 60_000, by: 2000).map { $0 }, end: 60_000))
        #expect(plan.starts == [0, 10_000, 20_000, 30_000, 40_000, 50_000])
        #expect(plan.notes.isEmpty)
    }

    @Test("the boundary is the keyframe nearest to the target, the earlier of two")
    func nearest() throws {
        #expect(try SegmentPlan.make(index: Fixture.index(at: [0, 8000, 12_000], end: 20_000)).starts == [0, 8000])
        #expect(try SegmentPlan.make(index: Fixture.index(at: [0, 7000, 12_000], end: 20_000)).starts == [0, 12_000])
        #expect(
            try SegmentPlan.make(index: Fixture.index(at: [0, 4000, 17_000], end: 25_000)).starts == [0, 4000, 17_000])
    }

    @Test("a keyframe before the minimum is no boundary")
    func belowMinimum() throws {
        #expect(try SegmentPlan.make(index: Fixture.index(at: [0, 1999, 30_000], end: 40_000)).starts == [0, 30_000])
    }

    @Test("a long group is one segment, and the user is told")
    func longGroup() throws {
        let plan = try SegmentPlan.make(index: Fixture.index(at: [0, 10_000, 45_000], end: 55_000))
        #expect(plan.starts == [0, 10_000, 45_000])
        #expect(plan.notes == [.longSegments(count: 1, longest: Fixture.seconds(35))])
    }

    @Test("a tail shorter than the minimum joins its predecessor")
    func shortTail() throws {
        #expect(try SegmentPlan.make(index: Fixture.index(at: [0, 10_000], end: 11_999)).starts == [0])
        #expect(try SegmentPlan.make(index: Fixture.index(at: [0, 10_000], end: 12_000)).starts == [0, 10_000])
    }

    @Test("the end counts as a boundary where it is nearer to the target than any keyframe")
    func end() throws {
        #expect(try SegmentPlan.make(index: Fixture.index(at: [0, 4000, 8000], end: 10_000)).starts == [0])
        #expect(try SegmentPlan.make(index: Fixture.index(at: [0, 4000, 8000], end: 11_999)).starts == [0])
        #expect(try SegmentPlan.make(index: Fixture.index(at: [0, 4000, 8000], end: 12_000)).starts == [0, 8000])
    }

    @Test("an infinite target gives one segment")
    func infinite() throws {
        let index = Fixture.index(at: [0, 10_000, 20_000], end: 30_000)
        #expect(try SegmentPlan.make(index: index, target: .positiveInfinity).starts == [0])
    }

    @Test("a target below the minimum is raised to it, with a note")
    func raised() throws {
        let index = Fixture.index(at: stride(from: 0, to: 10_000, by: 500).map { $0 }, end: 10_000)
        let plan = try SegmentPlan.make(index: index, target: Fixture.seconds(1))
        #expect(plan.starts == [0, 2000, 4000, 6000, 8000])
        #expect(plan.notes == [.targetRaised(to: Fixture.seconds(2))])
    }

    @Test("each segment names its keyframe, its entry and the keyframe after it")
    func neighbours() throws {
        let index = Fixture.index([Fixture.keyframe(0), Fixture.keyframe(10_000, .open)], end: 20_000)
        let segments = try SegmentPlan.make(index: index).segments
        #expect(segments.map(\.index) == [0, 1])
        #expect(segments.map(\.entry) == index.keyframes && segments.map(\.keyframe) == index.keyframes)
        #expect(segments.map(\.next) == [index.keyframes[1], nil])
        #expect(segments.map(\.end) == [10_000, 20_000])
    }

    @Test("one keyframe is one segment, and the user is told why")
    func singleKeyframe() throws {
        let plan = try SegmentPlan.make(index: Fixture.index(at: [0], end: 3_600_000))
        #expect(plan.starts == [0] && plan.notes == [.singleKeyframe])
        #expect(plan.notes[0].message.contains("only one keyframe"))
    }

    @Test("no keyframe is one segment from the first sample, and the user is told why")
    func noKeyframe() throws {
        let plan = try SegmentPlan.make(index: Fixture.index(at: [], start: 500, end: 60_000))
        #expect(plan.starts == [500] && plan.notes == [.noKeyframe])
        #expect(plan.segments[0].entry.ordinal == 0 && plan.segments[0].entry.position == -1)
    }

    @Test("a track or range without duration is refused, as are senseless lengths")
    func refused() throws {
        let index = Fixture.index(at: [0], end: 10_000)
        #expect(throws: SegmentPlanError.emptyTrack) { try SegmentPlan.make(index: Fixture.index(at: [0], end: 0)) }
        #expect(throws: SegmentPlanError.emptyRange) { try SegmentPlan.make(index: index, start: 10_000) }
        #expect(throws: SegmentPlanError.emptyRange) { try SegmentPlan.make(index: index, end: 0) }
        #expect(throws: SegmentPlanError.emptyRange) { try SegmentPlan.make(index: index, start: 5000, end: 4000) }
        for target in [MediaTime.zero, .invalid, .indefinite, .negativeInfinity, Fixture.seconds(-1)] {
            #expect(throws: SegmentPlanError.invalidTarget) { try SegmentPlan.make(index: index, target: target) }
        }
        for minimum in [MediaTime.positiveInfinity, .invalid, Fixture.seconds(-1)] {
            #expect(throws: SegmentPlanError.invalidMinimum) { try SegmentPlan.make(index: index, minimum: minimum) }
        }
    }
}
