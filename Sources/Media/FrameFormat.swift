internal import CFFmpeg
public import MediaTime

/// What a picture pipeline must know before its first frame.
public struct FrameFormat: Sendable, Hashable {
    /// Pixels.
    public var width: Int
    public var height: Int
    /// libavutil's name: `yuv420p`, `yuv420p10le`, `nv12`…
    public var pixelFormat: String
    /// `nil` where unknown; then samples are taken for square.
    public var sampleAspectRatio: Rational?
    /// Unit of the frames' times.
    public var timeBase: TimeBase
    /// Nominal frames a second, for rate control and level; `nil` where unknown. Timestamps decide otherwise.
    public var frameRate: Rational?
    public var colour: ColourDescription

    public init(
        width: Int, height: Int, pixelFormat: String, timeBase: TimeBase, frameRate: Rational? = nil,
        sampleAspectRatio: Rational? = nil, colour: ColourDescription = .unspecified
    ) {
        self.width = width
        self.height = height
        self.pixelFormat = pixelFormat
        self.timeBase = timeBase
        self.frameRate = frameRate
        self.sampleAspectRatio = sampleAspectRatio
        self.colour = colour
    }

    /// Told by the range or by one of libavutil's `yuvj…` names.
    var isFullRange: Bool { colour.range == "pc" || pixelFormat.hasPrefix("yuvj") }

    /// - Throws: `.format`/`.invalidSettings` for a name that libavutil does not know.
    func pixelFormatCode() throws(MediaError) -> AVPixelFormat { try Self.code(ofPixelFormat: pixelFormat) }

    static func code(ofPixelFormat name: String) throws(MediaError) -> AVPixelFormat {
        let code = av_get_pix_fmt(name)
        guard code != AV_PIX_FMT_NONE else {
            throw MediaError(.format, .invalidSettings, "“\(name)” is no pixel format that libavutil knows.")
        }
        return code
    }

    /// - Throws: `.format`/`.invalidSettings` unless the picture can exist at all.
    func checkedSize() throws(MediaError) -> (width: Int32, height: Int32) {
        guard let width = Int32(exactly: width), let height = Int32(exactly: height), width > 0, height > 0,
            av_image_check_size(UInt32(width), UInt32(height), 0, nil) >= 0
        else {
            throw MediaError(.format, .invalidSettings, "A picture of \(width) × \(height) pixels is not possible.")
        }
        return (width, height)
    }
}

/// What a sound pipeline must know before its first frame.
public struct AudioFormat: Sendable, Hashable {
    /// Samples a second.
    public var sampleRate: Int
    /// libavutil's name: `fltp`, `s16`…
    public var sampleFormat: String
    /// libavutil's description: `stereo`, `5.1`, `7 channels`…
    public var channelLayout: String
    /// Unit of the frames' times.
    public var timeBase: TimeBase

    /// - Parameter timeBase: `nil` for one tick a sample.
    /// - Returns: `nil` unless the sample rate lies in 1…2³¹−1.
    public init?(sampleRate: Int, sampleFormat: String, channelLayout: String, timeBase: TimeBase? = nil) {
        guard let rate = Int32(exactly: sampleRate), let tick = TimeBase(numerator: 1, denominator: rate) else {
            return nil
        }
        self.sampleRate = sampleRate
        self.sampleFormat = sampleFormat
        self.channelLayout = channelLayout
        self.timeBase = timeBase ?? tick
    }

    func sampleFormatCode() throws(MediaError) -> AVSampleFormat {
        let code = av_get_sample_fmt(sampleFormat)
        guard code != AV_SAMPLE_FMT_NONE else {
            throw MediaError(.format, .invalidSettings, "“\(sampleFormat)” is no sample format that libavutil knows.")
        }
        return code
    }

    func checkedSampleRate() throws(MediaError) -> Int32 {
        guard let rate = Int32(exactly: sampleRate), rate > 0 else {
            throw MediaError(.format, .invalidSettings, "A sample rate of \(sampleRate) Hz is not possible.")
        }
        return rate
    }

    /// Calls `body` with the parsed layout, which lives as long as the call.
    func withChannelLayout<Result>(
        _ body: (UnsafeMutablePointer<AVChannelLayout>) throws(MediaError) -> Result
    ) throws(MediaError) -> Result {
        var layout = AVChannelLayout()
        guard av_channel_layout_from_string(&layout, channelLayout) >= 0 else {
            throw MediaError(.format, .invalidSettings, "“\(channelLayout)” is no channel layout that libavutil knows.")
        }
        defer { av_channel_layout_uninit(&layout) }
        return try body(&layout)
    }
}
