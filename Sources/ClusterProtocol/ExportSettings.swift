package import MediaTime
package import SegmentPlan

/// What the user asks of an export: the options of `weft export` and `weft submit`, a preset file, and the body of a
/// submitted job are all this one value.
package struct ExportSettings: Hashable, Sendable, Codable {
    package enum VideoCodec: String, Hashable, Sendable, Codable, CaseIterable {
        case h264, hevc, av1, vp9, prores, copy
    }

    package enum AudioCodec: String, Hashable, Sendable, Codable, CaseIterable {
        case copy, aac, opus, flac, none
    }

    package enum Subtitles: String, Hashable, Sendable, Codable, CaseIterable {
        /// As they are, or as text of the container's own kind.
        case all, none
    }

    /// What a high dynamic range is brought down to.
    package enum ToneMapping: String, Hashable, Sendable, Codable, CaseIterable {
        /// ITU-R BT.709, 8 bits.
        case sdr
    }

    /// A loss that is an error unless it was allowed.
    package enum AllowedLoss: String, Hashable, Sendable, Codable, CaseIterable {
        case hdr10Plus = "hdr10plus"
        case dolbyVision = "dolby-vision"
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
    /// Source tracks of sound in the order of the output, each by its number among the tracks of sound, from 0; `nil` for all.
    package var audioMap: [Int]?
    /// Only sound in these languages (BCP 47 or ISO 639), in this order; `nil` for all.
    package var audioLanguages: [String]?
    package var subtitles = Subtitles.all
    /// A libavfilter chain for the picture.
    package var filter: String?
    /// Frames around a segment that the filters are given too; `nil` for what the filters are known to look at.
    package var filterMargin: Int?
    /// `off`, `auto` (where the source is interlaced) or a libavfilter chain; `nil` for `off`.
    package var deinterlace: String?
    package var toneMapping: ToneMapping?
    /// Turn the pixels instead of carrying the rotation.
    package var appliesRotation = false
    /// Every loss is an error.
    package var isStrict = false
    /// More damage of the source than this ends the export; `nil` for any amount.
    package var maxDamage: DamageLimit?
    package var allowedLosses: Set<AllowedLoss> = []
    /// Export only source time from here (inclusive).
    package var start: MediaTime?
    /// Export only source time up to here (exclusive).
    package var end: MediaTime?
    /// Target segment length; `nil` for 10 s. At least 2 s unless the source's own groups are the whole of it.
    package var segmentDuration: MediaTime?
    /// Whether groups of pictures much longer than that are cut inside.
    package var longGroups = LongGroupSplitting.auto
    /// Encoder threads a slot; `nil` for the constant of encoder and frame size.
    package var threads: Int?
    /// Seconds without a new frame before a slot is taken for hung.
    package var stallSeconds: Double = 60

    package init() {}
}
