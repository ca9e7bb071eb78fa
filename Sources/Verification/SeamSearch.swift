/// Finds pictures that are not the source's, and joins that show.
///
/// Likeness to the source depends on the scene, so a picture is judged by its neighbours on both sides of the join: one that is
/// far below the worse side is a seam. A run of pictures that is unlike the source altogether is wrong wherever it is.
struct SeamSearch {
    typealias Mark = VerificationReport.Mark

    /// Pictures either side of a join.
    private static let reach = 8
    /// Below the neighbours by more than this is a seam.
    private static let dip = 12.0
    /// Pictures below this have little in common with the source.
    private static let unlike = 20.0

    /// Where likeness falls or rises by this much at a join, and the eye can tell, one side was encoded far worse.
    private static let step = 6.0
    private static let visibleStep = 0.03
    /// Two pictures of the source that are less like each other than this belong to different scenes (SSIM).
    private static let sceneCut = 0.5

    private(set) var findings: [(kind: Finding.Kind, detail: String)] = []
    private(set) var joins: [VerificationReport.Join] = []

    /// - Parameters:
    ///   - marks: in order of time.
    ///   - joins: seconds of the output, sorted.
    ///   - continuity: how like the source's own pictures either side of a place are, by index of the later mark.
    init(marks: [Mark], joins: [Double], continuity: (Int) -> Double? = { _ in nil }) {
        guard !marks.isEmpty else { return }
        let wrong = Self.unlikeRuns(marks)
        for run in wrong.prefix(10) {
            let text =
                "\(run.count) pictures from \(Seconds.text(marks[run.lowerBound].seconds)) to "
                + "\(Seconds.text(marks[run.upperBound - 1].seconds)) are not those of the source "
                + "(\(Self.text(Self.median(marks[run].map(\.decibels)))) against \(Self.text(Self.median(marks.map(\.decibels)))) on the whole)."
            findings.append((.picture, text))
        }
        var seen: Set<Int> = []
        for join in joins {
            let place = Self.firstIndex(marks, from: join - 0.0005)
            guard place > 0, place < marks.count, seen.insert(place).inserted else { continue }
            let seam = Self.seam(marks, at: place)
            var join = Self.window(marks, at: place)
            join.isVisible = seam != nil || Self.isStep(join) && (continuity(place) ?? 1) >= Self.sceneCut
            self.joins.append(join)
            if seam == nil, join.isVisible, !wrong.contains(where: { $0.contains(place) || $0.contains(place - 1) }) {
                let (one, other) = (Self.text(join.before), Self.text(join.after))
                findings.append(
                    (
                        .seam,
                        "The quality changes at the join at \(Seconds.text(join.seconds)): \(one) before, \(other) after it, "
                            + "within one scene of the source."
                    ))
            }
            if let seam, !wrong.contains(where: { $0.contains(seam) }) {
                findings.append(
                    (
                        .seam,
                        "The picture at \(Seconds.text(marks[seam].seconds)) is less like the source than its neighbours "
                            + "(\(Self.text(marks[seam].decibels))), at the join at \(Seconds.text(join.seconds))."
                    ))
            }
        }
    }

    private static func text(_ decibels: Double) -> String { "\((decibels * 10).rounded() / 10) dB" }

    /// Runs of pictures that have little in common with the source's.
    private static func unlikeRuns(_ marks: [Mark]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start: Int?
        for index in marks.indices {
            let isUnlike = marks[index].decibels < unlike
            if isUnlike, start == nil { start = index }
            if !isUnlike, let from = start {
                runs.append(from..<index)
                start = nil
            }
        }
        if let start { runs.append(start..<marks.count) }
        return runs
    }

    /// Medians either side of a join.
    private static func window(_ marks: [Mark], at place: Int) -> VerificationReport.Join {
        let left = marks[max(0, place - reach)..<place]
        let right = marks[place..<min(marks.count, place + reach)]
        let near = marks[max(0, place - 2)..<min(marks.count, place + 2)]
        return .init(
            seconds: marks[place].seconds, before: median(left.map(\.decibels)), after: median(right.map(\.decibels)),
            similarityBefore: median(left.map(\.similarity)), similarityAfter: median(right.map(\.similarity)),
            lowest: near.map(\.decibels).min() ?? 0, isVisible: false)
    }

    private static func isStep(_ join: VerificationReport.Join) -> Bool {
        abs(join.before - join.after) > step && abs(join.similarityBefore - join.similarityAfter) > visibleStep
    }

    private static func seam(_ marks: [Mark], at place: Int) -> Int? {
        let left = marks[max(0, place - reach)..<place].map(\.decibels)
        let right = marks[place..<min(marks.count, place + reach)].map(\.decibels)
        guard left.count >= 3, right.count >= 3 else { return nil }
        let limit = min(median(left), median(right)) - dip
        return (max(0, place - 2)..<min(marks.count, place + 2)).filter { marks[$0].decibels < limit }
            .min { marks[$0].decibels < marks[$1].decibels }
    }

    private static func firstIndex(_ marks: [Mark], from seconds: Double) -> Int {
        var (low, high) = (0, marks.count)
        while low < high {
            let middle = (low + high) / 2
            if marks[middle].seconds < seconds { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func median(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        return values.sorted()[values.count / 2]
    }
}
