public import MediaTime

/// One entry of a track's edit list: which piece of the media plays when (ISO/IEC 14496-12 §8.6.6).
///
/// libavformat applies the list by itself: the times of samples are already presentation times, and samples outside are marked
/// discarded. These values are for people, reports and proofs, not for computing with sample times.
public struct TrackSegment: Sendable, Hashable {
    /// Unit of `targetStart` and `duration`: the movie's.
    public let movieTimeBase: TimeBase
    /// Unit of `mediaStart`: the track's own.
    public let mediaTimeBase: TimeBase
    /// Where the segment begins in the presentation.
    public let targetStart: Int64
    /// How long it plays; 0 in a fragmented file means "to the end".
    public let duration: Int64
    /// Where it begins in the media; `nil` is an empty edit: nothing plays.
    public let mediaStart: Int64?
    /// Media ticks a presentation tick, as 16.16 fixed point; 0x10000 is normal speed, 0 a held picture.
    public let rate: Int32

    public var isEmpty: Bool { mediaStart == nil }

    /// Media time to presentation time. A segment without a known end maps nothing: its target is empty.
    public func mapping() throws(MediaTimeError) -> TimeMapping {
        let length = try MediaTime(ticks: duration, in: movieTimeBase)
        let target = try TimeRange(start: MediaTime(ticks: targetStart, in: movieTimeBase), duration: length)
        guard let mediaStart else { return TimeMapping(emptyOver: target) }
        let scaled = try length.multiplied(by: Int64(rate), dividedBy: 0x10000)
        return TimeMapping(
            source: try TimeRange(start: MediaTime(ticks: mediaStart, in: mediaTimeBase), duration: scaled),
            target: target)
    }

    init(
        movieTimeBase: TimeBase, mediaTimeBase: TimeBase, targetStart: Int64, duration: Int64, mediaStart: Int64?,
        rate: Int32
    ) {
        self.movieTimeBase = movieTimeBase
        self.mediaTimeBase = mediaTimeBase
        self.targetStart = targetStart
        self.duration = duration
        self.mediaStart = mediaStart
        self.rate = rate
    }
}
