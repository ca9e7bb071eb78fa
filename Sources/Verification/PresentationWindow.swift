/// Sorts presentation times that come in decode order, with a memory that does not grow with the film.
struct PresentationWindow {
    /// No codec shows a picture more than 16 places after it is decoded (MaxDpbFrames, Rec. ITU-T H.264 §A.3.1, H.265
    /// §A.4.2); files that break the rule get room to spare.
    private static let size = 64

    private var times: [Int128] = []

    /// - Returns: a time that none to come is expected to precede.
    mutating func add(_ time: Int128) -> Int128? {
        var index = times.count
        while index > 0, times[index - 1] > time { index -= 1 }
        times.insert(time, at: index)
        return times.count > Self.size ? times.removeFirst() : nil
    }

    /// What is left, sorted.
    mutating func drain() -> [Int128] {
        defer { times = [] }
        return times
    }
}
