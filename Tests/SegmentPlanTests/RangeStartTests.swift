import MediaTime
import SegmentPlan
import Testing

@Suite struct RangeStartTests {
    private let index = Fixture.index(at: [0, 10_000, 20_000, 30_000, 40_000], end: 50_000)

    @Test("a range that starts inside a group enters at the keyframe before it")
    func midGroup() throws {
        let plan = try SegmentPlan.make(index: index, start: 13_000)
        #expect(plan.starts == [13_000, 20_000, 30_000, 40_000])
        #expect(plan.segments[0].entry.pts == 10_000 && plan.segments[0].keyframe.pts == 10_000)
        #expect(plan.notes.isEmpty)
    }

    @Test("a range that starts in doubt enters at the last usable keyframe")
    func doubtfulEntry() throws {
        let index = Fixture.index(
            [Fixture.keyframe(0), Fixture.keyframe(10_000, .doubtful), Fixture.keyframe(20_000)], end: 30_000)
        let segment = try SegmentPlan.make(index: index, start: 10_000).segments[0]
        #expect(segment.entry.pts == 0 && segment.keyframe.pts == 10_000 && segment.start == 10_000)
    }

    @Test("a range that ends inside a group ends there and reads up to the next keyframe at most")
    func endsMidGroup() throws {
        let plan = try SegmentPlan.make(index: index, end: 33_000)
        #expect(plan.starts == [0, 10_000, 20_000, 30_000])
        #expect(plan.segments.last?.end == 33_000 && plan.segments.last?.next?.pts == 40_000)
        #expect(try SegmentPlan.make(index: index, end: 30_000).segments.last?.next?.pts == 30_000)
    }

    @Test("a range within one group is one segment with a note")
    func withinGroup() throws {
        let plan = try SegmentPlan.make(index: index, start: 11_000, end: 19_000)
        #expect(plan.starts == [11_000] && plan.notes == [.singleKeyframe])
        #expect(plan.segments[0].entry.pts == 10_000 && plan.segments[0].next?.pts == 20_000)
    }

    @Test("a range beyond the track is cut to it")
    func clamped() throws {
        let plan = try SegmentPlan.make(index: index, start: .min, end: .max)
        #expect(try plan == SegmentPlan.make(index: index))
    }

    @Test("all before the first keyframe belongs to the first segment")
    func beforeFirstKeyframe() throws {
        let keyframes = [Fixture.keyframe(5000, ordinal: 0), Fixture.keyframe(15_000, ordinal: 240)]
        let plan = try SegmentPlan.make(index: Fixture.index(keyframes, end: 30_000))
        #expect(plan.starts == [0, 15_000] && plan.notes == [.startsBeforeFirstKeyframe])
        #expect(plan.segments[0].entry == keyframes[0] && plan.segments[0].keyframe == keyframes[0])
    }

    @Test("samples before the first keyframe in decode order are entered at the first of them")
    func firstSample() throws {
        let keyframes = [Fixture.keyframe(5000, ordinal: 120), Fixture.keyframe(15_000, ordinal: 240)]
        let segment = try SegmentPlan.make(index: Fixture.index(keyframes, start: -80, end: 30_000)).segments[0]
        #expect(segment.entry.ordinal == 0 && segment.entry.pts == -80 && segment.entry.kind == .doubtful)
        #expect(segment.keyframe == keyframes[0])
    }

    @Test("an edit that starts inside the first group enters before the edit")
    func editStart() throws {
        let plan = try SegmentPlan.make(index: Fixture.index(at: [-4000, 6000, 16_000], end: 26_000))
        #expect(plan.starts == [0, 6000, 16_000])
        #expect(plan.segments[0].entry.pts == -4000)
    }
}
