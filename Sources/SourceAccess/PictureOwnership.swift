internal import SegmentPlan
package import Media

/// Which samples of a picture track are pictures of the film: those that a decoder which starts at the track's beginning shows.
///
/// Feed every sample of the track, in decode order.
package struct PictureOwnership: Sendable {
    package enum Fate: Sendable, Hashable {
        /// A picture of the film.
        case owned
        /// Coded for reference only (`SampleVisibility`).
        case hidden
        /// Outside the edit list: decoded, not shown.
        case discarded
        /// Before the first keyframe, or a leading picture of a first keyframe whose group is open: what it refers to is not
        /// there (H.265 §8.1.3 NoRaslOutputFlag).
        case undecodable
        /// Without any time.
        case untimed
    }

    private var firstKeyframe: (pts: Int64, isClean: Bool)?
    private var keyframes = 0

    package init() {}

    /// - Parameter offset: added to the sample's raw times.
    package mutating func fate(of sample: Sample, offset: Int64) -> Fate {
        guard let raw = sample.pts ?? sample.dts else { return .untimed }
        let pts = raw &+ offset
        if sample.isSync {
            keyframes += 1
            if firstKeyframe == nil { firstKeyframe = (pts, RandomAccessPoint.kind(of: sample) == .clean) }
        }
        guard let first = firstKeyframe else { return .undecodable }
        if keyframes == 1, pts < first.pts, !first.isClean { return .undecodable }
        if sample.isDiscarded { return .discarded }
        return SampleVisibility.isShown(sample) ? .owned : .hidden
    }
}
