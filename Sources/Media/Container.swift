internal import CFFmpeg

/// A container format that can be written, by libavformat's name.
public struct Container: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let mp4 = Container(rawValue: "mp4")
    public static let mov = Container(rawValue: "mov")
    public static let matroska = Container(rawValue: "matroska")
    public static let webm = Container(rawValue: "webm")
    public static let mpegTS = Container(rawValue: "mpegts")

    /// What a file's name asks for; `nil` for an extension that no muxer claims.
    public init?(path: String) {
        _ = CodecLog.installed
        let name = path.split(separator: "/").last ?? ""
        switch name.split(separator: ".").last?.lowercased() {
        case "mp4", "m4v": self = .mp4
        case "mov", "qt": self = .mov
        case "mkv": self = .matroska
        case "webm": self = .webm
        case "ts", "m2ts", "mts": self = .mpegTS
        default:
            guard let format = av_guess_format(nil, path, nil), let name = format.pointee.name else { return nil }
            rawValue = String(cString: name)
        }
    }

    public var description: String {
        switch self {
        case .mp4: "MP4"
        case .mov: "QuickTime"
        case .matroska: "Matroska"
        case .webm: "WebM"
        case .mpegTS: "MPEG-TS"
        default: rawValue
        }
    }

    /// ISO base media or QuickTime.
    public var isMovie: Bool { ["mp4", "mov", "ipod", "3gp", "3g2", "ismv", "f4v"].contains(rawValue) }

    public var isMatroska: Bool { self == .matroska || self == .webm }

    /// Whether this build of libavformat writes what is to be cut off pictures before they are shown.
    package var holdsCropping: Bool {
        weft_frame_cropping() != AV_PKT_DATA_NB && (isMovie || isMatroska)
    }

    /// Whether this build of libavformat can put `codec` (libavcodec's name) into the container.
    public func canHold(codec: String) -> Bool {
        _ = CodecLog.installed
        guard let format = av_guess_format(rawValue, nil, nil), let descriptor = avcodec_descriptor_get_by_name(codec)
        else { return false }
        // QuickTime files share MP4's table of codecs in libavformat, which then refuses these (movenc.c, mov_init).
        if self == .mov, ["opus", "flac", "vp8", "vp9", "av1"].contains(codec) { return false }
        let answer = avformat_query_codec(format, descriptor.pointee.id, FF_COMPLIANCE_NORMAL)
        // Muxers without a table of codecs answer "ask the author": MPEG-TS writes any codec, but as private data
        // that no reader knows.
        guard answer < 0 else { return answer > 0 }
        return self == .mpegTS ? Self.transportStreamCodecs.contains(codec) : true
    }

    /// ISO/IEC 13818-1 table 2-34 and ETSI EN 300 468, as far as libavformat signals them.
    private static let transportStreamCodecs: Set = [
        "mpeg1video", "mpeg2video", "mpeg4", "h264", "hevc", "cavs", "dirac", "vc1", "mp1", "mp2", "mp3", "aac",
        "aac_latm",
        "ac3", "eac3", "dts", "truehd", "opus", "s302m", "dvb_subtitle", "dvb_teletext", "klv", "timed_id3",
    ]
}
