internal import Media
internal import MediaTime

/// Where a track is first and last heard: the first and the last sound that a decoder gives and the container presents, after its edit
/// list, priming and pre-skip. Where packets begin says less: the first may decode to nothing (Vorbis always, AAC at times),
/// and what is dropped of it some containers tell by the packet, others by the track.
struct SoundEdges {
    /// A place: ticks of the track, and so many samples behind them.
    struct Place: Hashable {
        var ticks: Int64
        var samples: Int64 = 0
        /// Samples a second, as decoded: twice what the container tells for HE-AAC.
        var rate: Int64
    }

    private(set) var start: Place?
    private(set) var end: Place?
    /// Samples of the last decoded frame.
    private(set) var lastLength: Int64 = 0

    /// Enough for MP3's reservoir of bits and for packets before an edit list's start.
    private static let headCount = 48
    private static let tailCount = 8
    private var head: [Sample] = []
    private var tail: [Sample] = []

    mutating func add(_ sample: Sample) {
        if head.count < Self.headCount { head.append(sample) }
        if tail.count == Self.tailCount { tail.removeFirst() }
        tail.append(sample)
    }

    /// Decodes the ends. What cannot be decoded leaves them unknown.
    mutating func settle(_ track: Track) {
        defer { (head, tail) = ([], []) }
        guard !track.isEncrypted else { return }
        Self.decode(head, track) { frame in
            guard let place = Self.place(frame) else { return true }
            start = place
            return false
        }
        Self.decode(tail, track) { frame in
            guard var place = Self.place(frame) else { return true }
            lastLength = Int64(frame.sampleCount)
            place.samples = lastLength
            end = place
            return true
        }
    }

    /// They lie outside the part that is looked at.
    mutating func forget(start: Bool, end: Bool) {
        if start { self.start = nil }
        if end { self.end = nil }
    }

    private static func place(_ frame: Frame) -> Place? {
        guard let pts = frame.pts, frame.sampleCount > 0, let format = frame.audioFormat, format.sampleRate > 0 else {
            return nil
        }
        return Place(ticks: pts, rate: Int64(format.sampleRate))
    }

    /// - Parameter take: says whether to go on.
    private static func decode(_ samples: [Sample], _ track: Track, _ take: (Frame) -> Bool) {
        guard let decoder = try? DecompressionSession(format: track.format, timeBase: track.timeBase) else { return }
        var isDone = false
        func output(_ frame: Frame) { isDone = isDone || !take(frame) }
        for sample in samples where !isDone {
            // Samples may come with a format of their own, and damaged ones give nothing.
            try? decoder.decode(sample, output: output)
        }
        if !isDone { try? decoder.finish(output: output) }
    }
}
