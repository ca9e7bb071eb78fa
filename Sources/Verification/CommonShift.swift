internal import ClusterProtocol
internal import Media
internal import MediaTime

/// By how much a whole file is shifted against its source. Writers are free to choose where a file's time line begins; what
/// counts is that all tracks move together.
struct CommonShift {
    /// Output time minus source time, in units of `clock`.
    let units: Int128
    let clock: CommonClock

    /// The shift that brings the most pictures into place, among those that the ends of both time lines suggest: a picture lost
    /// at the start must not make all the others look wrong.
    ///
    /// - Parameter lead: pictures that are known to be lost at the start.
    init(picture source: TrackScan, _ output: TrackScan, lead: Int = 0) throws(Failure) {
        clock = try CommonClock([source.track.timeBase, output.track.timeBase])
        let wanted = source.times.map { [clock] in clock.units($0, in: source.track.timeBase) }
        let found = output.times.map { [clock] in clock.units($0, in: output.track.timeBase) }
        var candidates: [Int128] = []
        for (left, right) in [(lead, 0), (0, 0), (1, 0), (0, 1), (2, 0), (0, 2)]
        where left < wanted.count && right < found.count {
            candidates.append(found[right] - wanted[left])
        }
        if let last = wanted.last, let end = found.last { candidates.append(end - last) }
        let tolerance = clock.tolerance(source.track.timeBase, output.track.timeBase)
        var best: (shift: Int128, fit: Int)?
        for candidate in candidates {
            let comparison = TimelineComparison.whole(
                expected: wanted, found: found, shift: candidate, tolerance: tolerance, reach: clock.rate / 2)
            let fit = comparison.found - comparison.surplus.count - comparison.moved.count
            if best.map({ fit > $0.fit }) ?? true { best = (candidate, fit) }
        }
        units = best?.shift ?? 0
    }

    var seconds: Double { clock.seconds(units) }
}

extension CommonClock {
    /// Times that went through both time bases were rounded by each, and the shift itself by another tick of the coarser.
    func tolerance(_ left: TimeBase, _ right: TimeBase) -> Int128 {
        let coarser = max(tick(of: left), tick(of: right))
        return left == right ? 0 : coarser
    }
}

extension TimelineComparison {
    /// Compares two time lines that are wholly known.
    static func whole(
        expected: [Int128], found: [Int128], shift: Int128, tolerance: Int128, reach: Int128
    ) -> TimelineComparison {
        var comparison = TimelineComparison(tolerance: tolerance, reach: reach)
        var cursor = 0
        func next() -> Int128? {
            guard cursor < expected.count else { return nil }
            defer { cursor += 1 }
            return expected[cursor] + shift
        }
        for time in found { comparison.take(time, next: next) }
        comparison.finish(next: next)
        return comparison
    }
}
