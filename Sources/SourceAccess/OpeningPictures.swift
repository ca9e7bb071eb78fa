package import Media
internal import SegmentPlan

/// Where the film of a picture track really begins: the first picture from which on a decoder that starts at the track's
/// beginning shows every one.
///
/// A track that starts with a clean keyframe shows all. Others start inside a group of pictures, with a keyframe whose leading
/// pictures refer to what is not there (H.265 §8.1.3, NoRaslOutputFlag), with a first sample that nobody flagged, or without
/// any keyframe. What is shown then differs by codec, so it is not guessed: the opening is decoded and looked at.
///
/// Feed the samples of the track in decode order until it is settled.
package struct OpeningPictures {
    /// Held at most before they are decoded; what shows nothing until then is left out.
    private static let sampleLimit = 512
    private static let byteLimit = 128 << 20

    package private(set) var isSettled = false
    /// Pictures before this time are not shown; `nil` where all are.
    package private(set) var firstShown: Int64?

    private var held: [Sample] = []
    private var heldBytes = 0
    private var keyframe: (pts: Int64, isClean: Bool)?
    /// Samples held when the first whole picture after a recovery point should be known.
    private var patience: Int?
    /// Twice as many places as pictures are reordered by (H.264 §A.3.1, MaxDpbFrames).
    private static let reorderLimit = 32

    package init() {}

    package mutating func add(_ sample: Sample) {
        guard !isSettled, let pts = sample.pts ?? sample.dts else { return }
        let isClean =
            RandomAccessPoint.isStart(sample, isFirst: held.isEmpty) && RandomAccessPoint.kind(of: sample) == .clean
        if held.isEmpty, keyframe == nil, isClean {
            isSettled = true
            return
        }
        if let keyframe, sample.isSync || pts >= keyframe.pts { return settle() }
        // From a recovery point (H.264 §D.2.8) the first whole picture comes some pictures later: that one is waited for.
        if case .recovery(let frames) = RandomAccessPoint.kind(of: sample), keyframe == nil, sample.isSync {
            patience = patience ?? held.count + frames + Self.reorderLimit
        }
        if let patience, held.count >= patience {
            settle()
            self.patience = nil
            guard !isSettled else { return }
        }
        if keyframe == nil, patience == nil, sample.isSync { keyframe = (pts, isClean) }
        held.append(sample)
        heldBytes += sample.size
        if held.count >= Self.sampleLimit || heldBytes >= Self.byteLimit { settle() }
    }

    /// The track has ended.
    package mutating func finish() {
        guard !isSettled else { return }
        settle()
        isSettled = true
    }

    private mutating func settle() {
        var visibility = SampleVisibility()
        let candidates = held.filter { visibility.isShown($0) && !$0.isDiscarded }
            .compactMap { $0.pts ?? $0.dts }.sorted()
        let (shown, bad) =
            Self.decode(held) ?? (Set(candidates.filter { time in keyframe.map { time >= $0.pts } ?? false }), [])
        held = []
        heldBytes = 0
        // A bad sample in the midst of good ones is damage, which is named where the segment is decoded; the film begins before it.
        let suffix = candidates.reversed().prefix { shown.contains($0) || bad.contains($0) }
        if let first = suffix.last(where: { shown.contains($0) }) {
            firstShown = first == candidates.first && firstShown == nil ? nil : first
            isSettled = true
        } else if let keyframe {
            firstShown = keyframe.pts
            isSettled = true
        } else if let last = candidates.last {
            // Nothing yet: the film begins later.
            firstShown = max(firstShown ?? last, last &+ 1)
        }
    }

    /// - Returns: the times of the pictures that these samples give, and of those that damage took away; `nil` where there is no
    ///   decoder for them.
    private static func decode(_ samples: [Sample]) -> (shown: Set<Int64>, bad: Set<Int64>)? {
        guard let first = samples.first,
            let decoder = try? DecompressionSession(format: first.format, timeBase: first.timeBase)
        else { return nil }
        var times: Set<Int64> = []
        let start = Keyframe(pts: .min, dts: .min, kind: .doubtful)
        // Not the first segment: there the pictures before the first one shown need no excuse.
        var ledger = PictureLedger(
            Segment(index: 1, start: .min, end: .max, entry: start, keyframe: start, next: nil), format: first.format)
        func note(_ frame: Frame) {
            if let pts = ledger.received(frame) { times.insert(pts) }
        }
        // A sample that cannot be decoded shows nothing, and that is the answer.
        for sample in samples {
            ledger.sent(sample)
            do {
                try decoder.decode(sample, output: note)
            } catch {
                ledger.failed(sample, error)
            }
        }
        try? decoder.finish(output: note)
        return (times, Set(ledger.losses(anyRecovers: true).map(\.time)))
    }
}
