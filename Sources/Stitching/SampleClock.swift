internal import MediaTime

/// Times of copied sound, counted in samples.
///
/// A source that rounds its times to milliseconds (Matroska, FLV) would, taken literally, let sound jitter and drift. Sound has
/// a better clock: the number of samples so far. The source's own time is followed again only where it disagrees by more than
/// its rounding can explain, which is a gap or an overlap, and stays one of the same length.
struct SampleClock {
    private let sourceTimeBase: TimeBase
    private let sampleTime: TimeBase
    /// In samples: two source ticks, at least 1 ms, at most 40 ms.
    private let tolerance: Int64
    private var next: Int64?
    private var last: Int64?

    /// - Returns: `nil` for a sample rate that is no time base.
    init?(sourceTimeBase: TimeBase, sampleRate: Int) {
        guard let rate = Int32(exactly: sampleRate), let sampleTime = TimeBase(numerator: 1, denominator: rate) else {
            return nil
        }
        self.sourceTimeBase = sourceTimeBase
        self.sampleTime = sampleTime
        let ticks = (try? sourceTimeBase.rescale(2, to: sampleTime)) ?? 0
        tolerance = min(max(ticks, Int64(rate) / 1000), Int64(rate) / 25)
    }

    var timeBase: TimeBase { sampleTime }

    /// - Parameters:
    ///   - ticks: the source's time of the packet.
    ///   - sampleCount: audio samples in the packet, 0 where unknown.
    /// - Returns: the packet's time in samples.
    mutating func time(of ticks: Int64, sampleCount: Int) throws(MediaTimeError) -> Int64 {
        let told = try sourceTimeBase.rescale(ticks, to: sampleTime)
        let time: Int64
        if let next, abs(next.subtractingClamped(told)) <= tolerance {
            time = next
        } else {
            // Where packets overlap, each is shortened by the next one, but times rise strictly.
            time = max(told, last.map { $0 &+ 1 } ?? told)
        }
        last = time
        next = sampleCount > 0 ? time &+ Int64(sampleCount) : nil
        return time
    }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow || difference == .min ? .max : difference
    }
}
