internal import Media
internal import SegmentPlan
internal import SourceAccess

/// Holds the pictures that came out of a decoder against the samples that went in.
///
/// It answers two things: which time belongs to a picture, and which samples of the segment gave none for a reason that lies in
/// the source. A picture that is missing for no such reason is not excused here; the proof finds it.
struct PictureLedger {
    private let segment: Segment
    /// Times of the segment's pictures that have not come out yet.
    private var expected: Set<Int64> = []
    private var firstShown: Int64?

    /// Groups of pictures in which the decoder met bad data: from a keyframe to the next.
    private var damage: [Range<Int64>] = []
    private var keyframe: Int64
    private var isDamaged = false

    /// Times of the samples in decode order, as long as the container gives none but these although the codec reorders:
    /// then the n-th picture out of the decoder has the n-th of them.
    private var decodeOrder: ArraySlice<Int64>?

    init(_ segment: Segment, reorderDepth: Int) {
        self.segment = segment
        keyframe = segment.start
        decodeOrder = reorderDepth > 0 ? [] : nil
    }

    private func isOwned(_ time: Int64) -> Bool { time >= segment.start && time < segment.end }

    mutating func sent(_ sample: Sample) {
        guard let time = sample.pts ?? sample.dts else { return }
        if sample.isSync {
            if isDamaged { damage.append(keyframe..<max(time, keyframe)) }
            (keyframe, isDamaged) = (time, false)
        }
        if sample.isCorrupt { isDamaged = true }
        if let pts = sample.pts, let dts = sample.dts, pts != dts { decodeOrder = nil }
        guard !sample.isDiscarded, SampleVisibility.isShown(sample) else { return }
        decodeOrder?.append(time)
        if isOwned(time) { expected.insert(time) }
    }

    /// The decoder called the sample bad that was sent last.
    mutating func failed(_ sample: Sample?) {
        isDamaged = true
        if let sample, let last = decodeOrder?.last, last == sample.pts ?? sample.dts { decodeOrder?.removeLast() }
    }

    /// - Returns: the picture's time; `nil` where nothing tells it.
    mutating func received(_ frame: Frame) -> Int64? {
        let time = decodeOrder?.popFirst() ?? frame.pts
        guard let time else { return nil }
        if expected.remove(time) != nil { firstShown = min(firstShown ?? time, time) }
        return time
    }

    /// Times of the segment's samples that cannot give a picture, sorted: those before the first picture of the whole source
    /// (H.264 §D.2.8, the way to a recovery point), and those in a damaged group.
    func unshown() -> [Int64] {
        let damage = damage + (isDamaged ? [keyframe..<Int64.max] : [])
        return expected.filter { time in
            if segment.index == 0, let firstShown, time < firstShown { return true }
            return damage.contains { $0.contains(time) }
        }.sorted()
    }
}
