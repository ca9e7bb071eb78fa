package import MediaTime

/// How a track is cut into segments: a function of the source and the settings only, never of who is there to work.
///
/// The segments tile `[start, end)` of the track, without gap or overlap, and every boundary is a keyframe's PTS:
///
/// 1. From a segment's start, the boundary is the keyframe nearest to start + target (the earlier of two equally near)
///    among those at or after start + minimum. So short groups of pictures are joined and a long one is a segment.
/// 2. Where the end is nearer to start + target than that keyframe, the segment is the last; so it is where the rest
///    would be shorter than the minimum. Only a track shorter than the minimum gives a segment shorter than it.
/// 3. Boundaries are clean or open keyframes. A recovery point or a doubtful keyframe is used only where the segment
///    would otherwise exceed twice the target, and decoding then enters at the clean or open keyframe before it, or,
///    where there is none, at the start of the track. As each such segment decodes all its pre-roll, it aims for at
///    least a quarter of its pre-roll's length: the work stays within five times the track's, however rare clean
///    keyframes are.
/// 4. The first segment starts at the track's (or the range's) start wherever that lies, and enters at the last clean
///    or open keyframe not after it, else at the first sample there is. All before the first keyframe is its own.
/// 5. Keyframes whose PTS does not rise in decode order are not used, and said so.
package struct SegmentPlan: Hashable, Sendable, Codable {
    /// The unit of the segments' timestamps.
    package var timeBase: TimeBase
    /// At least one, in order, indexed from 0.
    package var segments: [Segment]
    /// What the user should know about this plan.
    package var notes: [PlanNote]

    package init(timeBase: TimeBase, segments: [Segment], notes: [PlanNote]) {
        self.timeBase = timeBase
        self.segments = segments
        self.notes = notes
    }

    package static let defaultTarget = MediaTime(value: 10, timescale: 1)
    package static let defaultMinimum = MediaTime(value: 2, timescale: 1)

    /// Linear in the number of keyframes.
    ///
    /// - Parameters:
    ///   - target: The length wanted, positive; +∞ for one segment. Below `minimum` it is raised to it, with a note.
    ///   - minimum: The least length of a segment, a number not below 0.
    ///   - start: Start of the range to export, in ticks of the index's time base; the track's start where `nil`
    ///     or earlier.
    ///   - end: End of the range, itself excluded; the track's end where `nil` or later.
    package static func make(
        index: KeyframeIndex, target: MediaTime = defaultTarget, minimum: MediaTime = defaultMinimum,
        start: Int64? = nil, end: Int64? = nil
    ) throws(SegmentPlanError) -> SegmentPlan {
        guard index.start < index.end else { throw .emptyTrack }
        let start = max(index.start, start ?? index.start)
        let end = min(index.end, end ?? index.end)
        guard start < end else { throw .emptyRange }
        var notes: [PlanNote] = []
        let lengths = try SegmentLengths(target: target, minimum: minimum, timeBase: index.timeBase)
        if lengths.isTargetRaised { notes.append(.targetRaised(to: minimum)) }

        let keyframes = index.risingKeyframes
        let ignored = index.keyframes.count - keyframes.count
        if ignored > 0 { notes.append(.ignoredKeyframes(count: ignored)) }

        let opening = Opening(index: index, keyframes: keyframes, start: start, end: end)
        var planner = BoundaryPlanner(opening: opening, keyframes: keyframes, start: start, end: end, lengths: lengths)
        let boundaries = planner.boundaries()
        let next = end < index.end ? keyframes.first { $0.pts >= end } : nil
        let segments = index.addingJumps(
            to: tile(from: start, to: end, opening: opening, boundaries: boundaries, next: next))
        notes += PlanNote.notes(
            on: segments, opening: opening, hasChoice: planner.hasCandidates, lengths: lengths,
            timeBase: index.timeBase)
        return SegmentPlan(timeBase: index.timeBase, segments: segments, notes: notes)
    }

    private static func tile(
        from start: Int64, to end: Int64, opening: Opening, boundaries: [Boundary], next: Keyframe?
    ) -> [Segment] {
        var segments: [Segment] = []
        segments.reserveCapacity(boundaries.count + 1)
        var current = (start: start, entry: opening.entry, keyframe: opening.keyframe)
        for boundary in boundaries {
            segments.append(
                Segment(
                    index: segments.count, start: current.start, end: boundary.keyframe.pts, entry: current.entry,
                    keyframe: current.keyframe, next: boundary.keyframe))
            current = (boundary.keyframe.pts, boundary.entry, boundary.keyframe)
        }
        segments.append(
            Segment(
                index: segments.count, start: current.start, end: end, entry: current.entry,
                keyframe: current.keyframe, next: next))
        for index in segments.indices.dropFirst() { segments[index].earlier = segments[index - 1].entry }
        return segments
    }
}
