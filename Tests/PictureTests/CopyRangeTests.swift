import ClusterProtocol
import MediaTime
import SegmentPlan
import Testing

@testable import Coordinator

@Suite struct CopyRangeTests {
    /// 25 pictures a second in ticks of 1/12800 s (512 each), starting at tick 1000; a group every two seconds, of which the
    /// third is open.
    private let index = KeyframeIndex(
        timeBase: TimeBase(numerator: 1, denominator: 12_800) ?? .milliseconds,
        keyframes: (0..<5).map { number in
            let time = 1000 + Int64(number) * 25_600
            return Keyframe(pts: time, dts: time, kind: number == 2 ? .open : .clean, leading: number == 2 ? 2 : 0)
        }, start: 1000, end: 1000 + 5 * 25_600, sampleCount: nil, origin: .scan)

    private var range: CopyRange { CopyRange(index, frameRate: 25) }

    @Test("A time at a clean keyframe, at the start or beyond the end is a cut")
    func clean() throws {
        for time in [1000, 26_600, 77_800, 129_000, 500_000, -5] as [Int64] {
            #expect(try range.cut(time, option: "--start") == time)
        }
    }

    @Test("A time within half a picture of a cut means that cut")
    func near() throws {
        #expect(try range.cut(26_600 + 200, option: "--end") == 26_600)
        #expect(try range.cut(26_600 - 256, option: "--end") == 26_600)
    }

    @Test("A time inside a group is refused with exit code 64, and the nearest clean cuts are named")
    func inside() {
        for time in [30_000, 52_200, 70_000] as [Int64] {
            do {
                _ = try range.cut(time, option: "--start")
                Issue.record("\(time) was taken")
            } catch {
                #expect(error.exitCode == .usage)
                #expect(error.advice.contains("2 and 6"))
            }
        }
    }
}
