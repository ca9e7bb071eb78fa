package import Media
package import MediaTime

/// What a codec's decoder makes of a stretch of a track when nobody helps it: the judge of what damage took away.
///
/// It shares nothing with `SegmentDecoder` and its ledger: it is never entered again, told nothing of segments, and excuses nothing.
/// Enter it no later than the segment in question.
package struct PlainPass {
    private let decoder: DecompressionSession
    private var visibility = SampleVisibility()
    /// Shown samples by time, less the pictures that came out with it in the order of the film.
    private var balance: [Int64: Int] = [:]
    private var newest = Int64.min
    private var first: Int64?
    /// Times that came out as they should, and not made up.
    private var isFirstRight = false
    /// `false` where only decode times are known although the codec reorders: then no picture can be told by its time.
    package private(set) var tellsTimes: Bool

    /// - Throws: `.unsupported` where this build has no decoder for the format.
    package init(format: FormatDescription, timeBase: TimeBase) throws(MediaError) {
        decoder = try DecompressionSession(format: format, timeBase: timeBase)
        tellsTimes = format.reorderDepth == 0
    }

    package mutating func add(_ sample: Sample) {
        if let pts = sample.pts, pts != sample.dts { tellsTimes = true }
        if let time = sample.pts ?? sample.dts {
            if visibility.isShown(sample), !sample.isDiscarded { balance[time, default: 0] += 1 }
            first = first ?? time
        }
        var frames: [Frame] = []
        // What cannot be decoded gives no picture, and that is the answer.
        try? decoder.decode(sample.orUntimed) { (frame) throws(MediaError) in frames.append(frame) }
        note(frames)
    }

    /// No more samples come.
    package mutating func finish() {
        var frames: [Frame] = []
        try? decoder.finish { (frame) throws(MediaError) in frames.append(frame) }
        note(frames)
    }

    private mutating func note(_ frames: [Frame]) {
        for frame in frames {
            guard let time = frame.pts, time != PictureLedger.noTime else { continue }
            if time == first, !frame.isConcealed { isFirstRight = true }
            // A picture whose place in the film is past when it comes has none.
            guard time >= newest else { continue }
            newest = time
            balance[time, default: 0] -= 1
        }
    }

    /// The sample that was entered at gave its picture: what came before it matters to nothing behind it.
    package var isEntryRight: Bool { isFirstRight }

    /// How many shown samples of this time gave no picture.
    package func lacking(at time: Int64) -> Int { max(0, balance[time] ?? 0) }
}
