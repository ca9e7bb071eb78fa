/// What it costs to decode and to encode a source, counted in pixels of easy H.264 that are decoded meanwhile: constants of codecs,
/// encoder, preset and frame size, never of the machine that is there. They decide where a plan cuts long groups, so they
/// are part of what comes out.
///
/// The constants are user time of ffmpeg 5.1.9 on one thread of an x86-64 server, for 100 pictures of Big Buck Bunny at 160×90 and
/// 640×360 and 40 at 1920×1080, with libx264 164, libx265 3.5, SVT-AV1 1.4 and libvpx 1.12, rounded: a pixel of H.264 was 4 ns.
/// `Benchmarks/long-groups --costs` measures them again. What could not be measured there says so.
package struct CodingCost: Hashable, Sendable {
    /// Of one picture.
    package var decoding: Double
    package var encoding: Double
    package var picturesPerSecond: Double

    /// Of a segment, whatever its length: seeking, setting up a decoder and an encoder, one durable commit; about 60 ms, which is an
    /// estimate.
    package static let segment = 15e6
    /// Less encoding than this, about a second, is not worth another slot.
    package static let leastPart = 250e6

    package init(decoding: Double, encoding: Double, picturesPerSecond: Double) {
        self.decoding = max(1, decoding)
        self.encoding = max(1, encoding)
        self.picturesPerSecond = min(1000, max(0.01, picturesPerSecond))
    }

    /// One side of the work.
    package struct Picture: Hashable, Sendable {
        /// Of the source: libavcodec's name of the codec. Of the result: that of the encoder.
        package var coder: String
        package var pixels: Int
        /// The encoder's own.
        package var options: [String: String] = [:]

        package init(coder: String, width: Int, height: Int, options: [String: String] = [:]) {
            self.coder = coder
            pixels = max(1, width) * max(1, height)
            self.options = options
        }
    }

    /// - Parameter bitRate: of the source, in bits a second, as far as it is known: what is coded with more bits is decoded more
    ///   slowly (15 ns a bit, up to 40 Mbit/s at 640×360).
    package init(source: Picture, result: Picture, picturesPerSecond: Double, bitRate: Double) {
        let rate = min(1000, max(0.01, picturesPerSecond))
        self.init(
            decoding: Self.decodingWeight(source.coder) * (Double(source.pixels) + 25_000) + 4 * max(0, bitRate) / rate,
            encoding: Self.encodingWeight(result.coder, result.options) * (Double(result.pixels) + 10_000),
            picturesPerSecond: rate)
    }

    /// A pixel's, H.264's being 1.
    private static func decodingWeight(_ codec: String) -> Double {
        switch codec {
        case "mpeg2video", "mpeg1video": 0.4
        case "prores": 6
        // Taken to be like the nearest that was measured.
        case "mpeg4", "h263", "mjpeg": 0.5
        case "ffv1", "vvc": 6
        default: 1
        }
    }

    private static func encodingWeight(_ encoder: String, _ options: [String: String]) -> Double {
        let x26 = x264[options["preset"] ?? "medium"] ?? 14
        switch encoder {
        case "libx264", "libx264rgb": return x26
        case "libx265": return max(8, 1.8 * x26)
        case "libsvtav1":
            let preset = options["preset"].flatMap(Double.init) ?? 10
            return preset >= 10 ? 24 : preset >= 8 ? 50 : 100
        case "libvpx-vp9", "libaom-av1", "librav1e":
            let speed = options["cpu-used"].flatMap(Double.init) ?? 1
            return speed >= 5 || options["deadline"] == "realtime" ? 25 : 130
        case "prores_ks", "prores_aw", "prores": return 36
        // Not measured: fixed circuits encode as fast as they decode, and a frame has to be carried to them.
        case let name
        where ["_nvenc", "_qsv", "_vaapi", "_amf", "_videotoolbox", "_v4l2m2m"].contains { name.hasSuffix($0) }:
            return 1
        default: return 5
        }
    }

    private static let x264: [String: Double] = [
        "ultrafast": 2.4, "superfast": 3.5, "veryfast": 5, "faster": 8, "fast": 10, "medium": 14, "slow": 22,
        "slower": 35,
        // Not measured.
        "veryslow": 60, "placebo": 120,
    ]
}
