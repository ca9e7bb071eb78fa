package import ClusterProtocol
package import Media
package import MediaTime
package import SegmentPlan

/// Decodes the samples of one segment so that its pictures are those of a single pass over the whole track, also where the
/// track is damaged.
///
/// A decoder that has come from the track's beginning shows something even of a group whose first sample is bad: it has older
/// pictures to refer to. One that enters at that sample has none. So where the segment's entry proves bad before its first
/// picture is handed out, decoding enters again earlier (`Segment.earlierEntries`).
package final class SegmentDecoder {
    package private(set) var ledger: PictureLedger
    private let segment: Segment
    private let format: FormatDescription
    private let timeBase: TimeBase
    private var decoder: DecompressionSession
    private var order = OutputOrder()
    /// Entries that are still to be tried, the next one last.
    private var entries: [Keyframe]
    private var isSettled = false
    private var hasMoved = false
    private var isAtEnd = false
    private var waiting = MendedPictures()
    /// What a decoder cannot do is damage only where it can do the rest.
    private var unsupported: MediaError?

    package init(_ segment: Segment, format: FormatDescription, timeBase: TimeBase) throws(Failure) {
        self.segment = segment
        self.format = format
        self.timeBase = timeBase
        ledger = PictureLedger(segment, format: format)
        decoder = try Self.open(format, timeBase)
        entries = segment.earlierEntries.reversed()
    }

    private static func open(_ format: FormatDescription, _ timeBase: TimeBase) throws(Failure) -> DecompressionSession
    {
        do {
            return try DecompressionSession(format: format, timeBase: timeBase)
        } catch {
            throw Failure(error, role: .source)
        }
    }

    /// The next pictures, each at its own time; none where a sample gave none yet, `nil` after the last.
    ///
    /// - Parameters:
    ///   - read: the segment's next sample in decode order.
    ///   - enter: positions the source at the entry of this segment, as if nothing had been read; `false` where it cannot.
    package func next(
        read: () throws(Failure) -> Sample?, enter: (Segment) throws(Failure) -> Bool
    ) throws(Failure) -> [Frame]? {
        guard !isAtEnd else { return nil }
        let sample = try read()
        let frames = try sample.map { (sample) throws(Failure) in try decode(sample) } ?? finish()
        if try !settle(frames, isEnd: sample == nil, enter: enter) { return [] }
        if sample == nil {
            isAtEnd = true
            if let unsupported, ledger.isBarren { throw Failure(unsupported, role: .source) }
        }
        return frames
    }

    private func decode(_ sample: Sample) throws(Failure) -> [Frame] {
        var frames: [Frame] = []
        ledger.sent(sample)
        if ledger.dropsWaiting {
            // Every picture that can be decoded is a frame of the film, also those that a sequence leaves waiting at its end.
            frames = finish()
            decoder = try Self.open(format, timeBase)
        }
        order.sent(sample)
        var shown: [Frame] = []
        do {
            try decoder.decode(sample.orUntimed) { (frame) throws(MediaError) in shown.append(frame) }
            if let words = decoder.complaint { ledger.complained(sample, words) }
        } catch {
            if error.reason == .unsupported { unsupported = error }
            ledger.failed(sample, error)
        }
        return frames + ordered(shown).compactMap(timed)
    }

    private func ordered(_ frames: [Frame]) -> [Frame] {
        guard ledger.tellsTimes else { return frames }
        return mended(frames.flatMap { order.place($0, isDamaged: ledger.hasTrouble) })
    }

    private func mended(_ frames: [Frame]) -> [Frame] {
        frames.flatMap { frame in
            waiting.add(frame, isMended: ledger.isMended(frame)) { ledger.hasTrouble && ledger.awaitsEarlier(than: $0) }
        }
    }

    private func finish() -> [Frame] {
        var frames: [Frame] = []
        // What fails here has failed before, or is missed by the ledger.
        try? decoder.finish { (frame) throws(MediaError) in frames.append(frame) }
        let late = ordered(frames)
        return (late + mended(order.release()) + waiting.finish()).compactMap(timed)
    }

    private func timed(_ frame: Frame) -> Frame? {
        guard let time = ledger.received(frame) else { return nil }
        return frame.retimed(pts: time, duration: frame.duration, timeBase: frame.timeBase)
    }

    /// - Returns: `false` where decoding has begun again.
    private func settle(
        _ frames: [Frame], isEnd: Bool, enter: (Segment) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        guard !isSettled else { return true }
        let first = frames.compactMap(\.pts).filter { $0 >= segment.start && $0 < segment.end }.min()
        // Of an earlier entry only its own picture has to be right: what is bad behind it is as bad in a single pass.
        let isGood = first.map { hasMoved ? ledger.isEntryRight : ledger.opensWell(at: $0) }
        guard isGood == false || (isEnd && ledger.isBarren), let entry = entries.popLast() else {
            isSettled = isGood != nil
            return true
        }
        var moved = segment
        moved.entry = entry
        guard try enter(moved) else {
            isSettled = isGood != nil
            return true
        }
        hasMoved = true
        ledger = PictureLedger(segment, format: format)
        decoder = try Self.open(format, timeBase)
        order = OutputOrder()
        waiting = MendedPictures()
        unsupported = nil
        return false
    }
}

extension Segment {
    /// Segments that are decoded once more, at most, because of damage before this one. Otherwise a track that is damaged throughout
    /// would be decoded from its beginning for every other segment, which takes the square of its length.
    private static var reach: Int { 16 }

    /// Where to enter when this segment's own entry is damaged, in the order to be tried: the entry of the segment before; then the
    /// track's start, where that is near. Elsewhere what the segment before leaves open stays open.
    package var earlierEntries: [Keyframe] {
        guard index > 0, entry.ordinal != 0 else { return [] }
        let start = Keyframe(pts: entry.pts, dts: entry.dts, position: -1, ordinal: 0, kind: .clean)
        let near = index <= Self.reach ? [start] : []
        guard let earlier, earlier != entry, earlier.ordinal != 0 else { return near }
        return [earlier] + near
    }
}
