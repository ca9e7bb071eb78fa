package import MediaTime

/// The places of a track where decoding can start, as the container or a packet scan tells them, on one unrolled
/// monotonic time line. Timestamps are ticks of `timeBase`.
package struct KeyframeIndex: Hashable, Sendable, Codable {
    package var timeBase: TimeBase
    /// In decode order.
    package var keyframes: [Keyframe]
    /// PTS of the first owned frame (frames before the edit's start are not owned).
    package var start: Int64
    /// End of the last frame: half-open.
    package var end: Int64
    /// Samples of the track, where known without reading them all.
    package var sampleCount: Int?
    package var origin: Origin
    /// Where the source's clock jumps, in decode order.
    package var jumps: [TimelineJump] = []
    /// Places inside groups longer than four seconds, rising.
    package var innerCuts: [InnerCut] = []

    package enum Origin: String, Hashable, Sendable, Codable {
        /// The container's own index; only keyframes were read.
        case container
        /// A scan of every packet.
        case scan
    }

    package init(
        timeBase: TimeBase, keyframes: [Keyframe], start: Int64, end: Int64, sampleCount: Int?, origin: Origin
    ) {
        self.timeBase = timeBase
        self.keyframes = keyframes
        self.start = start
        self.end = end
        self.sampleCount = sampleCount
        self.origin = origin
    }
}

/// One sample that its container or its own bits call a random access point.
package struct Keyframe: Hashable, Sendable, Codable {
    /// Presentation and decode time in ticks.
    package var pts: Int64
    package var dts: Int64
    /// Byte offset of the sample in the source, -1 where unknown.
    package var position: Int64
    /// Ordinal of the sample in decode order within its track, -1 where unknown.
    package var ordinal: Int
    package var kind: Kind
    /// Leading pictures that follow in decode order and precede in presentation order; 0 for a closed group.
    package var leading: Int

    package enum Kind: Hashable, Sendable, Codable {
        /// Decoding may start here and nothing after refers to anything before (IDR, BLA, VP8/VP9/AV1 key frame, MPEG-2
        /// closed GOP).
        case clean
        /// Decoding may start here; leading pictures refer to the group before (CRA, H.264 recovery point with count 0,
        /// MPEG-2 open GOP).
        case open
        /// A clean picture only after this many frames (H.264 recovery_frame_cnt > 0).
        case recovery(frames: Int)
        /// Flagged by the container, but its bits do not promise a clean start.
        case doubtful
    }

    package init(pts: Int64, dts: Int64, position: Int64 = -1, ordinal: Int = -1, kind: Kind, leading: Int = 0) {
        self.pts = pts
        self.dts = dts
        self.position = position
        self.ordinal = ordinal
        self.kind = kind
        self.leading = leading
    }
}
