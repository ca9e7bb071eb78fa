import MediaTime
import SegmentPlan
import Testing

@Suite("Long groups are cut inside")
struct LongGroupsTests {
    private let target = MediaTime(value: 10, timescale: 1)

    /// One keyframe, then pictures at 25 a second.
    private func index(seconds: Int64) -> KeyframeIndex {
        let unit = TimeBase.milliseconds
        var index = KeyframeIndex(
            timeBase: unit, keyframes: [Keyframe(pts: 0, dts: 0, position: 0, ordinal: 0, kind: .clean)], start: 0,
            end: seconds * 1000, sampleCount: Int(seconds * 25), origin: .scan)
        index.innerCuts = stride(from: 24, to: Int(seconds * 25), by: 24).map {
            InnerCut(time: Int64($0) * 40, pictures: $0)
        }
        return index
    }

    private func split(_ how: LongGroupSplitting, ratio: Double, seconds: Int64) throws -> SegmentPlan {
        let index = index(seconds: seconds)
        let plan = try SegmentPlan.make(index: index, target: target)
        return LongGroups(how, costRatio: ratio)?.split(plan, index, target: target) ?? plan
    }

    @Test("Parts tile the group, enter at its keyframe and are said")
    func parts() throws {
        let plan = try split(.auto, ratio: 8, seconds: 60)
        #expect(plan.segments.count == 5)
        #expect(plan.segments.map(\.index) == [0, 1, 2, 3, 4])
        #expect(zip(plan.segments, plan.segments.dropFirst()).allSatisfy { $0.end == $1.start })
        #expect(plan.segments.allSatisfy { $0.entry.pts == 0 && $0.next == nil })
        #expect(plan.segments.first?.start == 0 && plan.segments.last?.end == 60_000)
        #expect(plan.notes.contains(.insideGroup(segment: 1, pictures: 288)))
        #expect(!plan.notes.contains(.singleKeyframe))
    }

    @Test(
        "The whole work grows by no more than a constant share, however long the group", arguments: [60, 3_600, 36_000])
    func bound(seconds: Int64) throws {
        for (how, share) in [(LongGroupSplitting.auto, 0.25), (.always, 1)] {
            for ratio in [0.5, 1, 4, 8, 24, 64] {
                let segments = try split(how, ratio: ratio, seconds: seconds).segments
                let decoded = segments.reduce(0.0) { $0 + Double($1.end) }
                let whole = Double(seconds) * 1000
                #expect(decoded + whole * ratio <= whole * (1 + ratio) * (1 + share) + whole * 0.05)
            }
        }
    }

    @Test("Nothing is cut where it is not wanted, does not pay or is not long")
    func whole() throws {
        #expect(try split(.never, ratio: 64, seconds: 60).segments.count == 1)
        #expect(try split(.auto, ratio: 0.5, seconds: 60).segments.count == 1)
        #expect(try split(.always, ratio: 64, seconds: 20).segments.count == 1)
    }
}
