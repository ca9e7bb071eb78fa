internal import CFFmpeg

/// The encoders of this build of libavcodec. Whether one really opens (a device, a driver, a session limit) only opening it tells.
public enum EncoderCatalog {
    /// What libavcodec says of one encoder.
    public struct Encoder: Sendable, Hashable {
        /// libavcodec's name: what `CompressionSettings.encoder` wants.
        public let name: String
        /// For people.
        public let title: String
        /// What it makes, by libavcodec's name: `h264`, `hevc`, `aac`…
        public let codecName: String
        public let mediaType: MediaType
        /// Needs a device (NVENC, VA-API, Quick Sync, VideoToolbox…).
        public let isHardware: Bool
        /// libavcodec wants `strict=experimental` for it.
        public let isExperimental: Bool
        /// libavutil's names; empty where the encoder names no restriction.
        public let pixelFormats: [String]
        /// libavutil's names (`fltp`); empty where the encoder names no restriction, and for pictures.
        public let sampleFormats: [String]
        /// Samples a second; empty where the encoder names no restriction, and for pictures.
        public let sampleRates: [Int]
        /// Names of the codec's profiles, as far as libavcodec lists them.
        public let profiles: [String]
        /// It writes mastering display and content light into the bit stream when the settings have them.
        public let writesStaticHDR: Bool
    }

    /// Every video and audio encoder, in libavcodec's order.
    public static let all: [Encoder] = {
        _ = CodecLog.installed
        var encoders: [Encoder] = []
        var position: UnsafeMutableRawPointer?
        while let codec = av_codec_iterate(&position) {
            guard av_codec_is_encoder(codec) != 0,
                codec.pointee.type == AVMEDIA_TYPE_VIDEO || codec.pointee.type == AVMEDIA_TYPE_AUDIO
            else { continue }
            encoders.append(describe(codec))
        }
        return encoders
    }()

    private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// `nil` where this libavcodec has no such encoder.
    public static func encoder(named name: String) -> Encoder? { byName[name] }

    /// All encoders of a codec, by libavcodec's codec name.
    public static func encoders(of codecName: String) -> [Encoder] { all.filter { $0.codecName == codecName } }

    /// The software encoders to try for a codec, best first, as far as this build has them.
    public static func softwareEncoders(of codecName: String) -> [String] {
        (softwareOrder[codecName] ?? []).filter { byName[$0] != nil }
    }

    /// The hardware encoders to try for a codec, best first, as far as this build has them. Opening may still fail.
    public static func hardwareEncoders(of codecName: String) -> [String] {
        hardwareNames(of: codecName).filter { byName[$0] != nil }
    }

    /// What libavcodec calls hardware encoders of the codec, whether or not this build has them.
    public static func hardwareNames(of codecName: String) -> [String] { hardwareKinds.map { "\(codecName)_\($0)" } }

    /// The first software encoder of the codec that this build has.
    public static func defaultEncoder(for codecName: String) -> String? { softwareEncoders(of: codecName).first }

    private static let softwareOrder: [String: [String]] = [
        "h264": ["libx264", "libopenh264"],
        "hevc": ["libx265", "libkvazaar"],
        "av1": ["libsvtav1", "libaom-av1", "librav1e"],
        "vp9": ["libvpx-vp9"],
        "vp8": ["libvpx"],
        "prores": ["prores_ks", "prores_aw", "prores"],
        "mpeg2video": ["mpeg2video"],
        "mpeg4": ["mpeg4"],
        "ffv1": ["ffv1"],
        "mjpeg": ["mjpeg"],
        "png": ["png"],
        "aac": ["libfdk_aac", "aac"],
        "opus": ["libopus"],
        "flac": ["flac"],
        "mp3": ["libmp3lame"],
        "ac3": ["ac3"],
        "vorbis": ["libvorbis"],
    ]

    /// By how well they encode and how reliably they open.
    private static let hardwareKinds = ["nvenc", "qsv", "videotoolbox", "vaapi", "amf", "vulkan", "v4l2m2m"]

    // MARK: From libavcodec

    /// Whether the encoder puts a frame's closed captions into the bit stream.
    package static func writesCaptions(_ name: String) -> Bool {
        guard let codec = avcodec_find_encoder_by_name(name), var options = codec.pointee.priv_class else {
            return false
        }
        return withUnsafeMutablePointer(to: &options) {
            av_opt_find($0, "a53cc", nil, 0, AV_OPT_SEARCH_FAKE_OBJ) != nil
        }
    }

    private static func describe(_ codec: UnsafePointer<AVCodec>) -> Encoder {
        let name = String(cString: codec.pointee.name)
        let capabilities = codec.pointee.capabilities
        return Encoder(
            name: name,
            title: codec.pointee.long_name.map { String(cString: $0) } ?? name,
            codecName: String(cString: avcodec_get_name(codec.pointee.id)),
            mediaType: codec.pointee.type == AVMEDIA_TYPE_VIDEO ? .video : .audio,
            isHardware: capabilities & (Int32(AV_CODEC_CAP_HARDWARE) | Int32(AV_CODEC_CAP_HYBRID)) != 0
                || hardwareKinds.contains { name.hasSuffix("_\($0)") },
            isExperimental: capabilities & Int32(AV_CODEC_CAP_EXPERIMENTAL) != 0,
            pixelFormats: pixelFormats(of: codec).compactMap { av_get_pix_fmt_name($0).map { String(cString: $0) } },
            sampleFormats: sampleFormats(of: codec).compactMap {
                av_get_sample_fmt_name($0).map { String(cString: $0) }
            },
            sampleRates: sampleRates(of: codec),
            profiles: profiles(of: codec),
            writesStaticHDR: ["libx264", "libx265", "libsvtav1"].contains(name))
    }

    static func pixelFormats(of codec: UnsafePointer<AVCodec>) -> [AVPixelFormat] {
        collect(weft_codec_pixel_formats(codec)) { $0 == AV_PIX_FMT_NONE }
    }

    static func sampleFormats(of codec: UnsafePointer<AVCodec>) -> [AVSampleFormat] {
        collect(weft_codec_sample_formats(codec)) { $0 == AV_SAMPLE_FMT_NONE }
    }

    static func sampleRates(of codec: UnsafePointer<AVCodec>) -> [Int] {
        collect(weft_codec_sample_rates(codec)) { $0 == 0 }.map { Int($0) }
    }

    private static func profiles(of codec: UnsafePointer<AVCodec>) -> [String] {
        let list =
            codec.pointee.profiles.map { UnsafePointer($0) }
            ?? avcodec_descriptor_get(codec.pointee.id)?.pointee.profiles
        return collect(list) { $0.profile == weft_profile_unknown() }.compactMap {
            $0.name.map { String(cString: $0) }
        }
    }

    /// A C list up to its end mark.
    private static func collect<Element>(
        _ list: UnsafePointer<Element>?, until isEnd: (Element) -> Bool
    ) -> [Element] {
        guard var list else { return [] }
        var elements: [Element] = []
        while !isEnd(list.pointee) {
            elements.append(list.pointee)
            list += 1
        }
        return elements
    }
}
