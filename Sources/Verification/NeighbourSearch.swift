/// Finds runs of pictures that are the source's, one place too early or too late: encoded from the wrong frames. Where little moves
/// they are like the right ones, and only a better likeness to the neighbour tells.
struct NeighbourSearch {
    /// Decibels beyond which a picture is taken for the right one.
    static let doubt = 40.0
    /// A neighbour must be more like it by this, decibels.
    private static let margin = 6.0
    /// Fewer in a row may be chance.
    private static let leastRun = 5

    private struct Run {
        var first: Double
        var last: Double
        var count: Int
        var isLate: Bool
    }

    private var found: [Run] = []

    /// - Parameters:
    ///   - mark: the picture and its likeness to its own picture of the source.
    ///   - previous: its likeness to the source's picture before.
    ///   - following: likeness of the output's picture before to the source's picture at this place.
    ///   - last: the output's picture before.
    mutating func add(
        _ mark: VerificationReport.Mark, previous: Double?, following: Double?, last: VerificationReport.Mark?
    ) {
        if let previous, previous > mark.decibels + Self.margin {
            note(mark.seconds, isLate: true)
        } else if let following, let last, following > last.decibels + Self.margin {
            note(last.seconds, isLate: false)
        }
    }

    private mutating func note(_ seconds: Double, isLate: Bool) {
        // A picture of a run may fail to tell now and then.
        if let run = found.last, run.isLate == isLate, seconds - run.last < 0.5 {
            found[found.count - 1].last = seconds
            found[found.count - 1].count += 1
        } else {
            found.append(Run(first: seconds, last: seconds, count: 1, isLate: isLate))
        }
    }

    /// One sentence each.
    var runs: [String] {
        found.filter { $0.count >= Self.leastRun }.prefix(10).map { run in
            "\(run.count) pictures from \(Seconds.text(run.first)) to \(Seconds.text(run.last)) are more like the source's "
                + "picture \(run.isLate ? "before" : "after") theirs: they were made from the wrong frames."
        }
    }
}
