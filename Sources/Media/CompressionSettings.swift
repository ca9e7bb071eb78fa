public import MediaTime

/// All that an encoder is told before its first frame.
public struct CompressionSettings: Sendable, Hashable {
    /// Pictures or sound, and of which format.
    public enum Input: Sendable, Hashable {
        case video(FrameFormat)
        case audio(AudioFormat)
    }

    /// How the lines of a picture belong together.
    public enum Scan: String, Sendable, Hashable, Codable {
        case progressive, topFieldFirst, bottomFieldFirst
    }

    /// A libavcodec encoder name: `libx264`, `hevc_vaapi`, `aac`…
    public var encoder: String
    /// What the frames will be. Its time base is the unit of the samples' times.
    public var input: Input
    /// Of the pictures that will come; `.progressive` to begin with.
    public var scan: Scan
    /// Bits a second; 0 for the encoder's own default or a quality option.
    public var bitrate: Int64
    /// libavcodec's generic and the encoder's private options, applied in sorted order after everything else.
    public var options: [String: String]
    /// Exactly this many encoder threads, at least 1: with more the bytes differ for some encoders, so it belongs to the recipe.
    public var threads: Int
    /// Parameter sets in the format description (MP4, Matroska) instead of in the samples (MPEG-TS).
    public var globalHeader: Bool
    /// Leave out everything that depends on the build or the machine.
    public var isBitExact: Bool
    /// SMPTE ST 2086 and CTA-861.3 values for the bit stream; `nil` for none.
    public var masteringDisplay: MasteringDisplay?
    /// As `masteringDisplay`.
    public var contentLight: ContentLight?

    /// One thread, no bit rate, global header, bit-exact: change what should differ.
    public init(encoder: String, input: Input) {
        self.encoder = encoder
        self.input = input
        scan = .progressive
        bitrate = 0
        options = [:]
        threads = 1
        globalHeader = true
        isBitExact = true
    }

    public init(encoder: String, video: FrameFormat) { self.init(encoder: encoder, input: .video(video)) }
    public init(encoder: String, audio: AudioFormat) { self.init(encoder: encoder, input: .audio(audio)) }

    /// Unit of the samples' times.
    public var timeBase: TimeBase {
        switch input {
        case .video(let format): format.timeBase
        case .audio(let format): format.timeBase
        }
    }
}
