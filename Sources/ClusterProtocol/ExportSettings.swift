package import MediaTime

/// What the user asks of an export: the options of `weft export` and `weft submit`, a preset file, and the body of a
/// submitted job are all this one value.
package struct ExportSettings: Hashable, Sendable, Codable {
    package enum VideoCodec: String, Hashable, Sendable, Codable, CaseIterable {
        case h264, hevc, av1, vp9, prores, copy
    }

    package enum AudioCodec: String, Hashable, Sendable, Codable, CaseIterable {
        case copy, aac, opus, flac, none
    }

    /// How the encoder's rate is steered. `nil` means the encoder's default quality.
    package enum RateControl: Hashable, Sendable, Codable {
        /// The encoder's own constant-quality scale (crf, qscale).
        case quality(Double)
        /// Bits a second.
        case bitrate(Int64)
        /// Bytes of the whole output.
        case size(Int64)
    }

    package var videoCodec: VideoCodec = .h264
    /// A libavcodec encoder name, or `auto`, `hardware`, `software`.
    package var encoder: String = "auto"
    package var rate: RateControl?
    /// Encoder private options in the encoder's own words (`preset=slow`), applied after everything else.
    package var encoderOptions: [String: String] = [:]
    package var audioCodec: AudioCodec = .copy
    /// Bits a second; `nil` for the encoder's default.
    package var audioBitrate: Int64?
    /// A libavfilter chain for the picture.
    package var filter: String?
    /// Export only source time from here (inclusive).
    package var start: MediaTime?
    /// Export only source time up to here (exclusive).
    package var end: MediaTime?
    /// Target segment length; `nil` for 10 s. At least 2 s unless the source's own groups are the whole of it.
    package var segmentDuration: MediaTime?
    /// Encoder threads a slot; `nil` for the constant of encoder and frame size.
    package var threads: Int?
    /// Seconds without a new frame before a slot is taken for hung.
    package var stallSeconds: Double = 60

    package init() {}
}
