package import MediaTime

/// Whether groups of pictures that are much longer than the target are cut inside.
package enum LongGroupSplitting: String, Hashable, Sendable, Codable, CaseIterable {
    /// Where the work saved on one slot is worth what the others decode twice.
    case auto
    case never
    /// Wherever the bound on the work allows.
    case always
}

/// Cuts segments that are long for want of keyframes: each part decodes from the group's keyframe and encodes only its own range.
///
/// A group that is encoded in *k* parts is decoded *(k + 1) / 2* times. With *r*, what encoding a picture costs in decodings of
/// one, the whole work grows from *n (r + 1)* to *n (r + (k + 1) / 2)* for *n* pictures, while the longest part falls towards
/// *n (r / k + 1)*. *k* is the wanted number of parts, bounded so that the work grows by no more than a constant share: a quarter
/// for `auto`, and as much again for `always`. Nothing here knows the machine or the number of its slots.
package struct LongGroups: Sendable {
    private let allowance: Double
    private let costRatio: Double

    /// - Parameter costRatio: what it costs to encode a picture, in decodings of one.
    /// - Returns: `nil` where nothing is to be cut.
    package init?(_ splitting: LongGroupSplitting, costRatio: Double) {
        switch splitting {
        case .never: return nil
        case .auto: allowance = 0.25
        case .always: allowance = 1
        }
        self.costRatio = max(0, costRatio)
    }

    /// The plan with its long segments cut, and a note for each cut.
    package func split(_ plan: SegmentPlan, _ index: KeyframeIndex, target: MediaTime) -> SegmentPlan {
        guard target.isNumeric, let wanted = try? target.ticks(in: plan.timeBase), wanted > 0 else { return plan }
        var result = plan
        result.segments = []
        for segment in plan.segments {
            for part in parts(of: segment, index, wanted: wanted) {
                var part = part
                part.index = result.segments.count
                if part.start != segment.start, let ahead = Self.ahead(of: part, index) {
                    result.notes.append(.insideGroup(segment: part.index, pictures: ahead))
                }
                result.segments.append(part)
            }
        }
        guard result.segments.count > plan.segments.count else { return plan }
        // A track that was cut after all is not called one that cannot be.
        result.notes.removeAll {
            switch $0 {
            case .singleKeyframe, .noKeyframe, .longSegments: true
            default: false
            }
        }
        return result
    }

    private func parts(of segment: Segment, _ index: KeyframeIndex, wanted: Int64) -> [Segment] {
        let length = Double(segment.end) - Double(segment.start)
        guard length > 2 * Double(wanted) else { return [segment] }
        let count = partCount(length: length, lead: max(0, Double(segment.start) - Double(segment.entry.pts)), wanted)
        var times: [Int64] = []
        for number in 1..<max(1, count) {
            let aim = segment.start + Int64(length * Double(number) / Double(count))
            let cuts = index.innerCuts
            let place = Self.lowerBound(cuts, aim)
            let near = [place - 1, place].filter { cuts.indices.contains($0) }.map { cuts[$0].time }
            guard let cut = near.min(by: { abs($0 - aim) < abs($1 - aim) }) else { continue }
            let least = wanted / 2
            if cut - (times.last ?? segment.start) >= least, segment.end - cut >= least { times.append(cut) }
        }
        let bounds = [segment.start] + times + [segment.end]
        return zip(bounds, bounds.dropFirst()).map { start, end in
            var part = segment
            (part.start, part.end) = (start, end)
            return part
        }
    }

    /// - Parameter lead: what a part decodes before the segment's own start.
    private func partCount(length: Double, lead: Double, _ wanted: Int64) -> Int {
        let most = max(1, Int(min(1e6, (length / Double(wanted)).rounded())))
        let budget = allowance * (length * (costRatio + 1) + lead)
        // (k − 1) lead + (k − 1) length / 2 more is decoded.
        return min(most, 1 + Int(min(1e6, budget / (lead + length / 2))))
    }

    /// Pictures that are decoded before a part's own first one.
    package static func ahead(of part: Segment, _ index: KeyframeIndex) -> Int? {
        let cuts = index.innerCuts
        let place = lowerBound(cuts, part.start)
        return cuts.indices.contains(place) && cuts[place].time == part.start ? cuts[place].pictures : nil
    }

    private static func lowerBound(_ cuts: [InnerCut], _ time: Int64) -> Int {
        var (low, high) = (0, cuts.count)
        while low < high {
            let middle = (low + high) / 2
            if cuts[middle].time < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
