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

    /// 1080p, of which a picture is decoded for 2 million.
    private func cost(_ ratio: Double, decoding: Double = 2e6) -> CodingCost {
        CodingCost(decoding: decoding, encoding: decoding * ratio, picturesPerSecond: 25)
    }

    private func split(_ how: LongGroupSplitting, ratio: Double, seconds: Int64) throws -> SegmentPlan {
        let index = index(seconds: seconds)
        let plan = try SegmentPlan.make(index: index, target: target)
        return LongGroups(how, cost: cost(ratio))?.split(plan, index, target: target) ?? plan
    }

    /// What each part costs, in seconds of decoding.
    private func work(_ plan: SegmentPlan, ratio: Double) -> [Double] {
        plan.segments.map { (Double($0.end) + Double($0.end - $0.start) * ratio) / 1000 }
    }

    @Test("Parts tile the group, enter at its keyframe and are said")
    func parts() throws {
        let plan = try split(.always, ratio: 8, seconds: 60)
        #expect(plan.segments.count == 4)
        #expect(plan.segments.map(\.index) == [0, 1, 2, 3])
        #expect(zip(plan.segments, plan.segments.dropFirst()).allSatisfy { $0.end == $1.start })
        #expect(plan.segments.allSatisfy { $0.entry.pts == 0 && $0.next == nil })
        #expect(plan.segments.first?.start == 0 && plan.segments.last?.end == 60_000)
        #expect(plan.notes.count == 1)
        #expect(plan.notes.first?.message.contains("3 of the segments start inside") == true)
    }

    @Test("The whole work grows by no more than a share, however long the group", arguments: [60, 3_600, 36_000])
    func bound(seconds: Int64) throws {
        for (how, share) in [(LongGroupSplitting.auto, 0.1), (.always, 1)] {
            for ratio in [0.5, 1, 4, 8, 24, 64] {
                let all = work(try split(how, ratio: ratio, seconds: seconds), ratio: ratio).reduce(0, +)
                #expect(all <= Double(seconds) * (1 + ratio) * (1 + share + 0.01))
            }
        }
    }

    @Test("Two slots gain half as much again or more where x264 medium works on 1080p", arguments: [20, 30, 40, 60])
    func gain(seconds: Int64) throws {
        let ratio = 14.0
        let parts = work(try split(.auto, ratio: ratio, seconds: seconds), ratio: ratio)
        var slots = [0.0, 0.0]
        for part in parts { slots[slots[0] <= slots[1] ? 0 : 1] += part }
        #expect(parts.count >= 2)
        #expect(Double(seconds) * (1 + ratio) / max(slots[0], slots[1]) > 1.5)
    }

    @Test("Nothing is cut where it is not wanted, does not pay, is soon done or is not long")
    func whole() throws {
        #expect(try split(.never, ratio: 64, seconds: 60).segments.count == 1)
        #expect(try split(.auto, ratio: 2, seconds: 60).segments.count == 1)
        #expect(try split(.always, ratio: 64, seconds: 15).segments.count == 1)
        let index = index(seconds: 60)
        let small = try #require(LongGroups(.auto, cost: cost(14, decoding: 20_000)))
        #expect(
            small.split(try SegmentPlan.make(index: index, target: target), index, target: target).segments.count == 1)
    }

    @Test("A long group among many others is left whole")
    func manyOthers() throws {
        let groups = (0..<40).map { Int64($0) * 30_000 }
        var index = index(seconds: 1200)
        index.keyframes = groups.map { Keyframe(pts: $0, dts: $0, kind: .clean) }
        index.innerCuts = (1..<1200).filter { $0 % 30 != 0 }.map {
            InnerCut(time: $0 * 1000, pictures: Int($0) % 30 * 25)
        }
        let plan = try SegmentPlan.make(index: index, target: target)
        let count = { (how: LongGroupSplitting) in
            LongGroups(how, cost: cost(14))?.split(plan, index, target: target).segments.count
        }
        #expect(plan.segments.count == 40)
        #expect(count(.auto) == 40)
        #expect(count(.always) == 80)
    }

    @Test("More pixels, a slower preset and a simpler source are dearer to encode beside decoding")
    func costs() {
        func ratio(_ preset: String, codec: String = "h264", width: Int = 1920, height: Int = 1080) -> Double {
            let cost = CodingCost(
                source: .init(coder: codec, width: 1920, height: 1080),
                result: .init(coder: "libx264", width: width, height: height, options: ["preset": preset]),
                picturesPerSecond: 25, bitRate: 5e6)
            return cost.encoding / cost.decoding
        }
        #expect((8...14).contains(ratio("medium")))
        #expect(ratio("ultrafast") < 3)
        #expect(ratio("slow") > ratio("medium"))
        #expect(ratio("medium", codec: "mpeg2video") > ratio("medium"))
        #expect(ratio("medium", width: 640, height: 360) < 2)
    }
}
