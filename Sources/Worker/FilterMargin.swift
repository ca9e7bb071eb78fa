internal import Media
internal import SegmentPlan

/// Which decoded frames a segment's filter chain is given, and which of the frames it makes belong to the segment.
///
/// A filter that looks at neighbours is given exactly so many frames before the segment and after it, whichever keyframe
/// decoding began at: so what it makes of the segment's own frames depends on nothing but the source.
struct FilterMargin {
    enum Place {
        case nowhere
        /// Comes after the segment.
        case margin
        /// With the frames before it that the filter must see first.
        case segment(before: [Frame])
    }

    private let start: Int64
    private let end: Int64
    private let count: Int
    private var before: [Frame] = []
    private var after = 0
    private var last: Int64?

    init(_ segment: Segment, frames count: Int) {
        start = segment.start
        end = segment.end
        self.count = count
    }

    /// Nothing more is wanted of the decoder.
    var isComplete: Bool { count > 0 && after >= count }

    mutating func place(_ frame: Frame, at pts: Int64) -> Place {
        if pts < start {
            guard count > 0, before.last?.pts.map({ $0 < pts }) ?? true else { return .nowhere }
            before.append(frame)
            if before.count > count { before.removeFirst() }
            return .nowhere
        }
        if pts < end {
            defer { before = [] }
            last = max(pts, last ?? pts)
            return .segment(before: before)
        }
        guard after < count, last.map({ $0 < pts }) ?? true else { return .nowhere }
        last = pts
        after += 1
        return .margin
    }

    /// Whether a filtered frame is the segment's own.
    func owns(_ frame: Frame) -> Bool {
        guard count > 0 else { return true }
        guard let pts = frame.pts else { return false }
        return pts >= start && pts < end
    }
}
