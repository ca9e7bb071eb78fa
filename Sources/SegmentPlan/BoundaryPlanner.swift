/// A place to cut, and where decoding of the segment that starts there enters.
struct Boundary {
    let keyframe: Keyframe
    let entry: Keyframe
}

/// Chooses the boundaries by the rules of ``SegmentPlan``, in one pass: both cursors only move forward.
struct BoundaryPlanner {
    private let start: Int64
    private let end: Int64
    private let lengths: SegmentLengths
    private let opening: Opening
    /// Clean and open keyframes inside the range.
    private let usable: [Keyframe]
    /// Recovery points and doubtful keyframes inside the range.
    private let unsure: [Keyframe]
    private var nextUsable = 0
    private var nextUnsure = 0

    init(opening: Opening, keyframes: [Keyframe], start: Int64, end: Int64, lengths: SegmentLengths) {
        self.start = start
        self.end = end
        self.lengths = lengths
        self.opening = opening
        // All before the first keyframe belongs to the first segment, and so does that keyframe.
        let inside = keyframes.filter { $0.pts > start && $0.pts < end && $0.pts != opening.keyframe.pts }
        usable = inside.filter(\.kind.isUsable)
        unsure = inside.filter { !$0.kind.isUsable }
    }

    var hasCandidates: Bool { !usable.isEmpty || !unsure.isEmpty }

    mutating func boundaries() -> [Boundary] {
        var result: [Boundary] = []
        var segmentStart = start
        var preRoll: Int64 = 0
        while let boundary = boundary(after: segmentStart, preRoll: preRoll) {
            result.append(boundary)
            segmentStart = boundary.keyframe.pts
            preRoll = saturating(segmentStart.subtractingReportingOverflow(boundary.entry.pts))
        }
        return result
    }

    private mutating func boundary(after start: Int64, preRoll: Int64) -> Boundary? {
        let wanted = max(lengths.target, preRoll / 4)
        guard distance(start, end) > UInt64(wanted) else { return nil }
        let aim = start + wanted  // Before the end, so it does not overflow.
        let earliest = saturating(start.addingReportingOverflow(lengths.minimum))

        while nextUsable < usable.count, usable[nextUsable].pts < earliest { nextUsable += 1 }
        let best = nearest(to: aim, in: usable[nextUsable...], notAfter: end)
        let limit = best?.pts ?? end
        if Int128(limit) - Int128(start) > 2 * Int128(wanted) {
            while nextUnsure < unsure.count, unsure[nextUnsure].pts < earliest { nextUnsure += 1 }
            // A minimum's room is left, so that the usable keyframe stays in reach. limit − minimum > start.
            if let keyframe = nearest(to: aim, in: unsure[nextUnsure...], notAfter: limit - lengths.minimum) {
                let entry = nextUsable > 0 ? usable[nextUsable - 1] : opening.entry
                return Boundary(keyframe: keyframe, entry: entry)
            }
        }
        guard let best, distance(best.pts, end) >= UInt64(lengths.minimum),
            distance(best.pts, aim) <= distance(end, aim)
        else { return nil }
        return Boundary(keyframe: best, entry: best)
    }

    /// The earlier of two equally near.
    private func nearest(to aim: Int64, in keyframes: ArraySlice<Keyframe>, notAfter limit: Int64) -> Keyframe? {
        var best: Keyframe?
        for keyframe in keyframes {
            guard keyframe.pts <= limit else { break }
            // Distances fall until the aim is passed and rise from there on.
            if let best, distance(keyframe.pts, aim) >= distance(best.pts, aim) { break }
            best = keyframe
        }
        return best
    }

    private func distance(_ first: Int64, _ second: Int64) -> UInt64 {
        UInt64((Int128(first) - Int128(second)).magnitude)
    }

    /// Sums and differences that can only overflow upward.
    private func saturating(_ result: (partialValue: Int64, overflow: Bool)) -> Int64 {
        result.overflow ? .max : result.partialValue
    }
}
