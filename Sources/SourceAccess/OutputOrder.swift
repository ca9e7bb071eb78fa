internal import Media

/// Settles the times of pictures that a decoder shows in another order than their container.
///
/// A codec counts its pictures itself (picture order count, H.264 §8.2.1, H.265 §8.3.1), and decoders show them by that count. Where a
/// multiplexer gave one picture the time of another (seams of HLS segments have such), it would come out at a time whose turn is
/// later, and those behind it would seem to go back. The times of these pictures are the source's, so they get them in the order in
/// which they come out. In a damaged stream a decoder's order proves nothing, and all is left alone.
struct OutputOrder {
    private var visibility = SampleVisibility()
    /// Times of the samples whose pictures have not come out, sorted.
    private var awaited: [Int64] = []
    /// Pictures whose turn is later than that of one that is awaited.
    private var held: [Frame] = []
    /// So many pictures may come before one with an earlier time; after that it comes no more (a leading picture that nothing can decode).
    private static let patience = 4

    mutating func sent(_ sample: Sample) {
        guard visibility.isShown(sample), !sample.isDiscarded, let time = sample.pts else { return }
        awaited.insert(time, at: awaited.firstIndex { $0 > time } ?? awaited.endIndex)
    }

    /// - Parameter isDamaged: a sample was bad.
    /// - Returns: the pictures whose time is settled.
    mutating func place(_ frame: Frame, isDamaged: Bool) -> [Frame] {
        guard frame.pts != PictureLedger.noTime else { return release() + [frame] }
        if let place = awaited.firstIndex(where: { $0 == frame.pts }) { awaited.remove(at: place) }
        held.append(frame)
        if isDamaged {
            defer { held = [] }
            return held
        }
        guard let latest = held.compactMap(\.pts).max(), let earliest = awaited.first, earliest < latest else {
            return release()
        }
        guard held.count > Self.patience else { return [] }
        awaited.removeAll { $0 < latest }
        return release()
    }

    /// What is held, as no more will come.
    mutating func release() -> [Frame] {
        defer { held = [] }
        let times = held.compactMap(\.pts)
        guard times.count == held.count, zip(times, times.dropFirst()).contains(where: { $0 > $1 }) else { return held }
        return zip(held, times.sorted()).map { frame, time in
            frame.retimed(pts: time, duration: frame.duration, timeBase: frame.timeBase)
        }
    }
}
