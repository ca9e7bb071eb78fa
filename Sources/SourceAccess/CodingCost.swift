/// What it costs to encode a picture, counted in decodings of one: constants of codecs, encoder and preset, measured once and
/// rounded, never of the machine. They decide where a plan cuts long groups, so they are part of what comes out.
package enum CodingCost {
    /// - Parameters:
    ///   - encoder: libavcodec's name.
    ///   - options: its own, of which the preset counts.
    ///   - codec: of the source.
    ///   - scale: pixels of an encoded picture for one of a decoded.
    package static func ratio(encoder: String, options: [String: String], codec: String, scale: Double = 1) -> Double {
        encoding(encoder, options["preset"]) / decoding(codec) * max(0.01, scale)
    }

    /// H.264's is 1.
    private static func decoding(_ codec: String) -> Double {
        switch codec {
        case "mpeg2video", "mpeg1video", "mpeg4", "h263", "mjpeg": 0.5
        case "hevc", "av1", "prores": 1.5
        case "ffv1", "vvc": 3
        default: 1
        }
    }

    private static func encoding(_ encoder: String, _ preset: String?) -> Double {
        switch encoder {
        case "libx264": x26[preset ?? "medium"] ?? 8
        case "libx265": 3 * (x26[preset ?? "medium"] ?? 8)
        case "libsvtav1": (preset.flatMap(Double.init) ?? 10) >= 9 ? 8 : 24
        case "libvpx-vp9", "libaom-av1", "librav1e": 24
        case "prores_ks", "prores_aw", "prores": 4
        case let name
        where ["_nvenc", "_qsv", "_vaapi", "_amf", "_videotoolbox", "_v4l2m2m"].contains { name.hasSuffix($0) }:
            1
        default: 4
        }
    }

    private static let x26: [String: Double] = [
        "ultrafast": 1.5, "superfast": 2.5, "veryfast": 4, "faster": 5, "fast": 6, "medium": 8, "slow": 12,
        "slower": 20,
        "veryslow": 32, "placebo": 64,
    ]
}
