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
/// Of *k* parts of a group the *i*th decodes everything up to its own end *tᵢ* and encodes from *tᵢ₋₁*. With *d* and *e*, what it
/// costs to decode and to encode a second, all parts take equally long where *tᵢ = L (1 − qⁱ) / (1 − qᵏ)*, *q = e / (d + e)*.
/// What is decoded again is *d (t₁ + … + tₖ₋₁)*, and each part costs a constant besides. *k* is the largest power of two (three
/// equal parts would take two slots as long as four do) that makes the group's work grow by no more than a share: a tenth for
/// `auto`, so that nobody loses more than that where there is but one slot, and as much again for `always`. `auto` leaves
/// alone what is soon done, and a group that is less than a sixteenth of the film: then there are others to work on
/// meanwhile. Nothing here knows the machine or the number of its slots.
package struct LongGroups: Sendable {
    private let cost: CodingCost
    private let allowance: Double
    private let leastShare: Double
    private let leastPart: Double

    /// - Returns: `nil` where nothing is to be cut.
    package init?(_ splitting: LongGroupSplitting, cost: CodingCost) {
        switch splitting {
        case .never: return nil
        case .auto: (allowance, leastShare, leastPart) = (0.1, 1.0 / 16, CodingCost.leastPart)
        case .always: (allowance, leastShare, leastPart) = (1, 0, 0)
        }
        self.cost = cost
    }

    /// Some segment would be cut if there were places for it.
    package func wouldCut(_ plan: SegmentPlan, target: MediaTime) -> Bool {
        guard let rule = Rule(self, plan, target: target) else { return false }
        return plan.segments.contains { rule.ends(of: $0).count > 1 }
    }

    /// The plan with its long segments cut, and a note that says so.
    package func split(_ plan: SegmentPlan, _ index: KeyframeIndex, target: MediaTime) -> SegmentPlan {
        guard let rule = Rule(self, plan, target: target) else { return plan }
        var result = plan
        result.segments = []
        var cuts = (segments: 0, pictures: 0)
        for segment in plan.segments {
            for part in rule.parts(of: segment, index) {
                var part = part
                part.index = result.segments.count
                if part.start != segment.start, let ahead = Self.ahead(of: part, index) {
                    cuts.segments += 1
                    cuts.pictures += ahead
                }
                result.segments.append(part)
            }
        }
        guard cuts.segments > 0 else { return plan }
        // A track that was cut after all is not called one that cannot be.
        result.notes.removeAll {
            switch $0 {
            case .singleKeyframe, .noKeyframe, .longSegments: true
            default: false
            }
        }
        result.notes.append(.insideGroups(segments: cuts.segments, pictures: cuts.pictures))
        return result
    }

    /// How the segments of one plan are cut.
    private struct Rule {
        private let groups: LongGroups
        /// Ticks.
        private let wanted: Int64
        private let whole: Double
        /// Of a tick.
        private let decoding: Double
        private let encoding: Double

        init?(_ groups: LongGroups, _ plan: SegmentPlan, target: MediaTime) {
            guard target.isNumeric, let wanted = try? target.ticks(in: plan.timeBase), wanted > 0 else { return nil }
            self.groups = groups
            self.wanted = wanted
            whole = plan.segments.reduce(0) { $0 + Self.length(of: $1) }
            let tick = Double(plan.timeBase.numerator) / Double(plan.timeBase.denominator)
            decoding = groups.cost.decoding * groups.cost.picturesPerSecond * tick
            encoding = groups.cost.encoding * groups.cost.picturesPerSecond * tick
        }

        private static func length(of segment: Segment) -> Double { Double(segment.end) - Double(segment.start) }

        /// Where the parts of a segment should end, counted from its start.
        func ends(of segment: Segment) -> [Double] {
            let length = Self.length(of: segment)
            let most = Int(min(4096, (length / Double(wanted)).rounded()))
            guard length >= 1.75 * Double(wanted), length >= groups.leastShare * whole else { return [length] }
            let lead = max(0, Double(segment.start) - Double(segment.entry.pts))
            let work = (decoding + encoding) * length + decoding * lead
            var best = [length]
            var count = 1
            while count * 2 <= most {
                count *= 2
                let ends = Self.balanced(count, length, encoding / (decoding + encoding))
                let again = ends.dropLast().reduce(0) { $0 + decoding * (lead + $1) }
                let more = again + Double(count - 1) * CodingCost.segment
                guard more <= groups.allowance * work, (work + more) / Double(count) >= groups.leastPart else { break }
                best = ends
            }
            return best
        }

        private static func balanced(_ count: Int, _ length: Double, _ q: Double) -> [Double] {
            var power = 1.0
            var sums: [Double] = []
            for _ in 0..<count {
                sums.append((sums.last ?? 0) + power)
                power *= q
            }
            return sums.map { length * $0 / (sums.last ?? 1) }
        }

        /// The segment cut at the places of the index that are nearest to those wanted.
        func parts(of segment: Segment, _ index: KeyframeIndex) -> [Segment] {
            let cuts = index.innerCuts
            var times: [Int64] = []
            for end in ends(of: segment).dropLast() {
                let aim = segment.start + Int64(end)
                let place = LongGroups.lowerBound(cuts, aim)
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
    }

    /// Pictures that are decoded before a part's own first one.
    private static func ahead(of part: Segment, _ index: KeyframeIndex) -> Int? {
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
