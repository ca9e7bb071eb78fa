internal import Media
internal import SegmentPlan

/// Where a slot must begin to decode so that a filter sees the frames before a segment.
struct FilterEntry {
    private let index: KeyframeIndex
    private var keyframes: [Keyframe] { index.keyframes }
    /// Ticks that surely hold the frames wanted, at the track's average rate.
    private let reach: Int64

    init(_ index: KeyframeIndex, margin: Int, track: Track) {
        self.index = index
        guard margin > 0 else {
            reach = 0
            return
        }
        let rate = max(1, (track.averageFrameRate ?? track.realFrameRate)?.approximation ?? 25)
        let ticks = Double(margin + 1) / rate * Double(track.timeBase.denominator) / Double(track.timeBase.numerator)
        reach = Int64(min(1e15, ticks.rounded(.up)))
    }

    /// The segments with their entries moved back; untouched where no filter looks around itself.
    func move(_ segments: [Segment]) -> [Segment] {
        guard reach > 0 else { return segments }
        return index.addingJumps(
            to: segments.map { segment in
                var segment = segment
                segment.entry = entry(of: segment)
                return segment
            })
    }

    /// The last keyframe to start at that lies far enough ahead, else the first one.
    private func entry(of segment: Segment) -> Keyframe {
        let limit = segment.start &- reach
        guard segment.entry.pts > limit else { return segment.entry }
        let usable = keyframes.filter { keyframe in
            keyframe.pts < segment.entry.pts && (keyframe.kind == .clean || keyframe.kind == .open)
        }
        return usable.last { $0.pts <= limit } ?? usable.first ?? segment.entry
    }
}
