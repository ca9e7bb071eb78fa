internal import Media

/// Puts the pictures of a damaged stretch where they belong.
///
/// What is left of a damaged sample often has lost what tells its place, and its picture comes out before others that are shown before
/// it; and behind a gap a decoder at times hands out new pictures first and old ones, which waited in it, later. In both cases whole
/// pictures would find their place taken. So a mended picture waits for one that is shown after it, and any other for the intact
/// ones before it that are under way, as long as a decoder may hold them.
struct MendedPictures {
    private var waiting: [(frame: Frame, time: Int64, isMended: Bool)] = []
    /// Pictures wait for at most so many others (Rec. ITU-T H.264 §A.3.1, MaxDpbFrames).
    private static let reach = 16

    /// - Parameter awaitsEarlier: whether an intact picture from before that time is under way.
    /// - Returns: what may be handed out now, in the order of the film.
    mutating func add(_ frame: Frame, isMended: Bool, awaitsEarlier: (Int64) -> Bool) -> [Frame] {
        guard let time = frame.pts else { return [frame] }
        if waiting.isEmpty, !isMended, !awaitsEarlier(time) { return [frame] }
        let place = waiting.firstIndex { $0.time > time } ?? waiting.count
        waiting.insert((frame, time, isMended), at: place)
        var ready: [Frame] = []
        while let first = waiting.first {
            let isOvertaken = !first.isMended || waiting.contains { $0.time > first.time && !$0.isMended }
            guard waiting.count > Self.reach || (isOvertaken && !awaitsEarlier(first.time)) else { break }
            ready.append(waiting.removeFirst().frame)
        }
        return ready
    }

    /// No more pictures come.
    mutating func finish() -> [Frame] {
        defer { waiting = [] }
        return waiting.map(\.frame)
    }
}

extension Sample {
    /// A sample without any time gets one that no sample has, by which its picture is known again.
    var orUntimed: Sample {
        guard pts == nil, dts == nil else { return self }
        return retimed(pts: PictureLedger.noTime, dts: nil, duration: duration, timeBase: timeBase)
    }
}
