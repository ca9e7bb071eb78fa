/// Where the source's container is damaged: what is missing there is in no sample, and shows only as a hole in a track's times.
///
/// A hole alone is none of damage (a film may hold a picture for a minute), and damage alone need not leave a hole. Both together
/// are named. Times are any one track's ticks.
struct SourceScars {
    /// From the last sample read before the damage to the first one behind it, by decode time.
    private var scars: [ClosedRange<Int64>] = []
    /// The end of the media came with it.
    private(set) var isOpen = false
    /// It came before the first sample.
    private(set) var isAtStart = false

    struct Hole: Equatable {
        /// Where the picture before it ends, and where the next one begins.
        var start: Int64
        var end: Int64
        /// Pictures that it has room for.
        var count: Int
    }

    /// - Parameters:
    ///   - before: decode time of the last sample read; `nil` at the beginning.
    ///   - after: of the next one; `nil` at the end.
    mutating func note(before: Int64?, after: Int64?) {
        guard let after else {
            isOpen = true
            return
        }
        guard let before else {
            isAtStart = true
            return
        }
        scars.append(min(before, after)...max(before, after))
    }

    /// Pictures are decoded before they are shown, by at most so many places (Rec. ITU-T H.264 §A.3.1, MaxDpbFrames).
    private static let reach: Int64 = 16

    /// The holes between these times that lie at a scar.
    ///
    /// - Parameters:
    ///   - times: sorted.
    ///   - previous: the last time before them.
    func holes(in times: [Int64], after previous: Int64?) -> [Hole] {
        guard !scars.isEmpty, let usual = Self.usualStep(times) else { return [] }
        var holes: [Hole] = []
        var last = previous
        for time in times {
            defer { last = time }
            guard let last, time &- last > usual &+ usual / 2 else { continue }
            let slack = usual &* Self.reach
            guard scars.contains(where: { $0.upperBound >= last &- slack && $0.lowerBound <= time }) else { continue }
            holes.append(
                Hole(start: last &+ usual, end: time, count: max(1, Int((time &- last &+ usual / 2) / usual) - 1)))
        }
        return holes
    }

    /// Half of the steps are no longer.
    static func usualStep(_ times: [Int64]) -> Int64? {
        let steps = zip(times, times.dropFirst()).map { $1 &- $0 }.filter { $0 > 0 }.sorted()
        return steps.isEmpty ? nil : steps[steps.count / 2]
    }
}
