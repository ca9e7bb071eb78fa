package import MediaTime

/// Everything that decides what a segment's encoded bytes are, resolved once for a job from the source and the settings.
/// Two slots with equal recipes and equal encoder fingerprints return equal bytes.
package struct EncodeRecipe: Hashable, Sendable, Codable {
    /// A libavcodec encoder name, or `copy`: samples are returned as they were read.
    package var encoder: String
    /// Private options of the encoder, applied in sorted order.
    package var options: [String: String]
    /// Bits a second; 0 for constant quality.
    package var bitrate: Int64
    package var threads: Int
    /// The filter chain, including the size and format conversion it ends with. Empty: frames pass untouched.
    package var filter: String
    /// Parameter sets in the format description (MP4, Matroska) instead of in the samples (MPEG-TS).
    package var globalHeader: Bool
    /// The unit of every timestamp of the job: the source track's own.
    package var timeBase: TimeBase
    /// Frames a second the encoder is told, for rate control and level; timestamps decide otherwise.
    package var frameRateNumerator: Int32
    package var frameRateDenominator: Int32
    /// What the filter chain delivers to the encoder. 0 and "" for `copy`.
    package var width: Int
    package var height: Int
    package var pixelFormat: String
    /// The first pictures of the source; later ones that differ are converted to them before the filter.
    package var source: Picture?
    /// What the encoder is told of the pictures it gets.
    package var aspect: Aspect?
    package var colour = Colour()
    package var scan = Scan.progressive
    package var masteringDisplay: MasteringDisplay?
    package var contentLight: ContentLight?
    /// Frames before and after a segment that the filter chain is given too, because it looks at neighbours; what it makes of
    /// them is left out.
    package var filterMargin = 0
    /// Metadata of single pictures that is put beside them as it stood in the source.
    package var carriesHDR10Plus = false
    package var carriesDolbyVision = false
    /// A change of the picture's format on the way is an error.
    package var isStrict = false

    private enum CodingKeys: String, CodingKey {
        case encoder, options, bitrate, threads, filter
        case globalHeader = "global_header"
        case timeBase = "time_base"
        case frameRateNumerator = "frame_rate_numerator"
        case frameRateDenominator = "frame_rate_denominator"
        case width, height
        case pixelFormat = "pixel_format"
        case source, aspect, colour, scan
        case masteringDisplay = "mastering_display"
        case contentLight = "content_light"
        case filterMargin = "filter_margin"
        case carriesHDR10Plus = "hdr10plus"
        case carriesDolbyVision = "dolby_vision"
        case isStrict = "strict"
    }

    package init(
        encoder: String, options: [String: String] = [:], bitrate: Int64 = 0, threads: Int = 1, filter: String = "",
        globalHeader: Bool = true, timeBase: TimeBase, frameRateNumerator: Int32 = 25,
        frameRateDenominator: Int32 = 1, width: Int = 0, height: Int = 0, pixelFormat: String = ""
    ) {
        self.encoder = encoder
        self.options = options
        self.bitrate = bitrate
        self.threads = threads
        self.filter = filter
        self.globalHeader = globalHeader
        self.timeBase = timeBase
        self.frameRateNumerator = frameRateNumerator
        self.frameRateDenominator = frameRateDenominator
        self.width = width
        self.height = height
        self.pixelFormat = pixelFormat
    }
}
