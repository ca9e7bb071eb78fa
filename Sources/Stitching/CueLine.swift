/// Cues that may overlap, as a line on which one thing is shown at a time: what a movie's text track can hold (ISO/IEC 14496-12
/// §8.6.1: the samples of a track follow one another). Where cues overlap, both are shown together, in the order they came.
struct CueLine {
    struct Cue: Equatable {
        var start: Int64
        var end: Int64
        var events: [String]
    }

    private var active: [Cue] = []
    /// What has been put out reaches up to here.
    private var position = Int64.min
    /// Cues that were shown beside another.
    private(set) var overlaps = 0

    /// - Returns: the stretches that are certain now. A stretch is cut short by the start of the one after it.
    mutating func add(_ cue: Cue) -> [Cue] {
        var done = advance(to: cue.start)
        active.append(Cue(start: max(cue.start, position), end: cue.end, events: cue.events))
        if active.count > 1 { overlaps += 1 }
        done += stretch()
        return done
    }

    /// - Returns: the stretches to the end of the last cue.
    mutating func finish() -> [Cue] { advance(to: .max) }

    /// What is shown after cues have ended before `time`.
    private mutating func advance(to time: Int64) -> [Cue] {
        var done: [Cue] = []
        while let end = active.map(\.end).min(), end <= time {
            active.removeAll { $0.end <= end }
            position = max(position, end)
            if !active.isEmpty, end < time { done += stretch(before: time) }
        }
        position = max(position, time == .max ? position : time)
        return done
    }

    /// All that is shown now, up to the first end.
    private func stretch(before limit: Int64 = .max) -> [Cue] {
        guard let end = active.map({ min($0.end, limit) }).min(), end > position else { return [] }
        return [Cue(start: position, end: end, events: active.flatMap(\.events))]
    }
}
