/// Cues that may overlap, as a line on which one thing is shown at a time: what a movie's text track can hold (ISO/IEC 14496-12
/// §8.6.1: the samples of a track follow one another). Where cues overlap, both are shown together, in the order they came.
struct CueLine {
    struct Cue: Equatable {
        var start: Int64
        var end: Int64
        var events: [String]
    }

    private var active: [Cue] = []
    /// What is shown since the last cue came; another may still begin at the same time.
    private(set) var pending: Cue?
    /// What has been put out reaches up to here.
    private var position = Int64.min
    /// Start of what was put out last: starts rise.
    private var lastStart = Int64.min
    /// Cues that were shown beside another.
    private(set) var overlaps = 0

    /// - Returns: the stretches that are certain now.
    mutating func add(_ cue: Cue) -> [Cue] {
        let start = max(cue.start, position)
        var done: [Cue] = []
        if var shown = pending, shown.start < start {
            shown.end = min(shown.end, start)
            done += put(shown)
        }
        pending = nil
        done += advance(to: start)
        active.append(Cue(start: start, end: max(cue.end, start + 1), events: cue.events))
        if active.count > 1 { overlaps += 1 }
        pending = stretch(before: .max)
        return done
    }

    /// No other cue begins where the last one did.
    mutating func release() -> [Cue] {
        guard let shown = pending else { return [] }
        pending = nil
        return put(shown)
    }

    /// - Returns: the stretches to the end of the last cue.
    mutating func finish() -> [Cue] { release() + advance(to: .max) }

    /// What is shown after cues have ended before `time`.
    private mutating func advance(to time: Int64) -> [Cue] {
        var done: [Cue] = []
        while let end = active.map(\.end).min(), end <= time {
            active.removeAll { $0.end <= end }
            position = max(position, end)
            if end < time, let rest = stretch(before: time) { done += put(rest) }
        }
        if time != .max { position = max(position, time) }
        return done
    }

    /// All that is shown from here, up to the first end.
    private func stretch(before limit: Int64) -> Cue? {
        guard let end = active.map({ min($0.end, limit) }).min(), end > position else { return nil }
        return Cue(start: position, end: end, events: active.flatMap(\.events))
    }

    /// A cue that comes after its time begins one tick behind what was shown already.
    private mutating func put(_ cue: Cue) -> [Cue] {
        var cue = cue
        if cue.start <= lastStart { cue.start = lastStart + 1 }
        guard cue.end > cue.start else { return [] }
        lastStart = cue.start
        return [cue]
    }
}
