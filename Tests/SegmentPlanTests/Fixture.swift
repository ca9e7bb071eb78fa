import MediaTime
import SegmentPlan

/// Indices for tests. Without a time base, ticks are milliseconds.
enum Fixture {
    static func keyframe(_ pts: Int64, _ kind: Keyframe.Kind = .clean, ordinal: Int = -1) -> Keyframe {
        Keyframe(pts: pts, dts: pts &- 40, position: pts &* 100, ordinal: ordinal, kind: kind)
    }

    static func index(
        _ keyframes: [Keyframe], start: Int64 = 0, end: Int64, timeBase: TimeBase = .milliseconds
    ) -> KeyframeIndex {
        KeyframeIndex(
            timeBase: timeBase, keyframes: keyframes, start: start, end: end, sampleCount: nil, origin: .scan)
    }

    static func index(at times: [Int64], start: Int64 = 0, end: Int64) -> KeyframeIndex {
        index(times.map { keyframe($0) }, start: start, end: end)
    }

    static func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }
}

extension SegmentPlan {
    var starts: [Int64] { segments.map(\.start) }
}
