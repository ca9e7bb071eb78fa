package import MediaTime

/// Something about a plan that its user should know.
package enum PlanNote: Hashable, Sendable, Codable {
    /// No keyframe lies inside what is exported: one segment.
    case singleKeyframe
    /// The track's index names no keyframe at all: one segment, decoded from the first sample.
    case noKeyframe
    /// Segments longer than twice the target, for want of keyframes between.
    case longSegments(count: Int, longest: MediaTime)
    /// Segments that start at a recovery point or a doubtful keyframe and decode from an earlier one.
    case preRoll(segments: Int)
    /// The first frames precede the first keyframe and may not decode.
    case startsBeforeFirstKeyframe
    /// Keyframes with a PTS that does not rise, or lies after the track's end.
    case ignoredKeyframes(count: Int)
    /// Segments that decode from their group's keyframe on and keep only their own range.
    case insideGroups(segments: Int, pictures: Int)
    /// The target was below the minimum.
    case targetRaised(to: MediaTime)

    /// One sentence for people.
    package var message: String {
        switch self {
        case .singleKeyframe:
            "The source has only one keyframe in the exported range and cannot be split: it is one segment."
        case .noKeyframe:
            "The source names no keyframe and cannot be split: it is one segment."
        case .longSegments(let count, let longest):
            "\(count) of the segments \(count == 1 ? "is" : "are") longer than wanted (up to \(longest.clockText)), "
                + "as the source has no safe keyframe in between."
        case .preRoll(let segments):
            "\(segments) of the segments \(segments == 1 ? "starts" : "start") at a keyframe that does not promise a "
                + "clean start: decoding begins at an earlier one."
        case .startsBeforeFirstKeyframe:
            "The source starts before its first keyframe: its first frames may be damaged or missing."
        case .ignoredKeyframes(let count):
            "\(count) of the keyframes \(count == 1 ? "is" : "are") out of order or after the end, and not used."
        case .insideGroups(let segments, let pictures):
            "Keyframes are far apart: \(segments) of the segments \(segments == 1 ? "starts" : "start") inside a long group of "
                + "pictures, and \(pictures) pictures are decoded more than once for that (--split-long-gops)."
        case .targetRaised(let minimum):
            "The segment duration is below the minimum and was raised to \(minimum.clockText)."
        }
    }

    static func notes(
        on segments: [Segment], opening: Opening, hasChoice: Bool, lengths: SegmentLengths, timeBase: TimeBase
    ) -> [PlanNote] {
        var notes: [PlanNote] = []
        if !opening.hasKeyframe {
            notes.append(.noKeyframe)
        } else {
            // Leading pictures of an open group right at the start of the stream are the ordinary case of this.
            if opening.startsBeforeKeyframe { notes.append(.startsBeforeFirstKeyframe) }
            if !hasChoice { notes.append(.singleKeyframe) }
        }
        let long = segments.map { Int128($0.end) - Int128($0.start) }.filter { $0 > lengths.long }
        if hasChoice, let longest = long.max() {
            let time = try? MediaTime(ticks: Int64(clamping: longest), in: timeBase)
            notes.append(.longSegments(count: long.count, longest: time ?? .positiveInfinity))
        }
        let preRolled = segments.dropFirst().count { $0.entry != $0.keyframe }
        if preRolled > 0 { notes.append(.preRoll(segments: preRolled)) }
        return notes
    }
}
