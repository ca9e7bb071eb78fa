/// A track of the source that travels beside the encoded picture, over its whole length and never per segment.
package struct CarriedTrack: Hashable, Sendable, Codable {
    /// Index of the track in the source.
    package var track: Int
    /// Sound is encoded; `nil` where the samples are copied.
    package var encoding: AudioEncoding?
    /// Text subtitles are converted by this libavcodec encoder; `nil` where the samples are copied.
    package var textEncoder: String?
    /// The track has no time line: an attached file or a cover picture.
    package var isEnclosure: Bool

    package init(
        track: Int, encoding: AudioEncoding? = nil, textEncoder: String? = nil, isEnclosure: Bool = false
    ) {
        self.track = track
        self.encoding = encoding
        self.textEncoder = textEncoder
        self.isEnclosure = isEnclosure
    }

    package struct AudioEncoding: Hashable, Sendable, Codable {
        /// A libavcodec encoder name.
        package var encoder: String
        /// Bits a second; 0 for the encoder's default.
        package var bitrate: Int64
        package var globalHeader: Bool

        package init(encoder: String, bitrate: Int64, globalHeader: Bool) {
            self.encoder = encoder
            self.bitrate = bitrate
            self.globalHeader = globalHeader
        }
    }
}
