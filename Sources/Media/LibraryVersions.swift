internal import CFFmpeg

/// The libav* libraries that this process runs with.
public enum LibraryVersions {
    /// Library name to version, and FFmpeg's own version under `ffmpeg`.
    public static var all: [String: String] {
        [
            "ffmpeg": String(cString: av_version_info()), "libavutil": text(avutil_version()),
            "libavcodec": text(avcodec_version()), "libavformat": text(avformat_version()),
            "libavfilter": text(avfilter_version()),
        ]
    }

    /// libav packs a version as major, minor and micro in 16, 8 and 8 bits.
    private static func text(_ version: UInt32) -> String {
        "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
    }
}
