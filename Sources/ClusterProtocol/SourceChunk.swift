package import MediaTime

/// The next part of a streamed source. Payload: [sample table][bytes], the first message also [format archive] before them.
///
/// The table names, in decode order, samples that were not named before (none: an empty table); their bytes form one stream
/// that messages cut anywhere, so a sample is complete once its announced size has arrived. Where messages are cut follows
/// from the source and the segment alone: message n of one stream is message n of the next.
package struct SourceChunk: MessageBody {
    package static let type = "source"
    package var lease: LeaseName
    /// As the slot's `source_credit` said.
    package var stream: Int
    /// 0, 1, 2… within the segment; 0 carries the format archive.
    package var sequence: Int
    /// Sample bytes in the messages before this one.
    package var offset: Int64
    /// Nothing follows.
    package var last: Bool
    /// In message 0.
    package var track: Track?

    /// What a slot has to know of the track beside its format description.
    package struct Track: Hashable, Sendable, Codable {
        /// Unit of the samples' times.
        package var timeBase: TimeBase
        /// Frames a second; `nil` where the container does not tell.
        package var frameRate: Ratio?
        /// Width of a pixel over its height, the container's word.
        package var aspect: Ratio?

        package init(timeBase: TimeBase, frameRate: Ratio?, aspect: Ratio?) {
            self.timeBase = timeBase
            self.frameRate = frameRate
            self.aspect = aspect
        }

        private enum CodingKeys: String, CodingKey {
            case timeBase = "time_base"
            case frameRate = "frame_rate"
            case aspect
        }
    }

    package struct Ratio: Hashable, Sendable, Codable {
        package var numerator: Int32
        package var denominator: Int32

        package init(numerator: Int32, denominator: Int32) {
            self.numerator = numerator
            self.denominator = denominator
        }
    }

    package init(lease: LeaseName, stream: Int, sequence: Int, offset: Int64, last: Bool, track: Track? = nil) {
        self.lease = lease
        self.stream = stream
        self.sequence = sequence
        self.offset = offset
        self.last = last
        self.track = track
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try Bounds.number(stream, "stream", in: 0...ProtocolLimits.streams)
        try Bounds.number(sequence, "sequence", in: 0...Int(ProtocolLimits.segmentBytes))
        guard payload.count == (sequence == 0 ? 3 : 2), (track != nil) == (sequence == 0) else {
            throw .malformed(
                "A source message carries a sample table and bytes, the first also a track and a format archive.")
        }
        for bytes in payload { try PayloadShape.chunk(bytes, "The source payload") }
        try Bounds.number(offset, "offset", in: 0...(ProtocolLimits.segmentBytes - Int64(payload.last ?? 0)))
        if let track {
            try Bounds.number(track.timeBase.numerator, "track.time_base.numerator", in: 1...Int32.max)
            try Bounds.number(track.timeBase.denominator, "track.time_base.denominator", in: 1...Int32.max)
            for ratio in [track.frameRate, track.aspect].compactMap(\.self) {
                try Bounds.number(ratio.numerator, "track", in: 1...Int32.max)
                try Bounds.number(ratio.denominator, "track", in: 1...Int32.max)
            }
        }
    }
}
