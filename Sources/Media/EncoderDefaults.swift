internal import CFFmpeg

/// What each encoder must be told so that its bytes depend on nothing of the machine and every session starts clean.
enum EncoderDefaults {
    /// The encoders' own parameter lists, `:`-separated, which the user's list is appended to.
    private static let parameterLists = ["x264-params", "x265-params", "svtav1-params"]

    /// - Returns: in the order to apply them: ours, then the user's by name. A user's parameter list follows our own in the same
    ///   option, so that the user has the last word.
    static func options(
        for settings: CompressionSettings, _ context: UnsafeMutablePointer<AVCodecContext>
    ) -> [(name: String, value: String)] {
        var user = settings.options
        var options: [(name: String, value: String)] = []
        for (name, parameters) in lists(for: settings) where !parameters.isEmpty {
            let own = parameters.joined(separator: ":")
            options.append((name, user[name].map { $0.isEmpty ? own : "\(own):\($0)" } ?? own))
            user[name] = nil
        }
        // A forced keyframe must be an IDR picture, not only intra coded (H.264 §7.4.1.2.4).
        if av_opt_find(context, "forced-idr", nil, 0, AV_OPT_SEARCH_CHILDREN) != nil {
            options.append(("forced-idr", "1"))
        }
        // These cannot close GOPs while they also look for changes of scene.
        if ["mpeg4", "mpeg2video", "mpeg1video"].contains(settings.encoder) {
            options.append(("sc_threshold", "1000000000"))
        }
        if settings.encoder == "libvpx-vp9" {
            options.append(("row-mt", settings.threads > 1 ? "1" : "0"))
        }
        return options + user.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func lists(for settings: CompressionSettings) -> [(String, [String])] {
        switch settings.encoder {
        case "libx264", "libx264rgb":
            [("x264-params", ["open-gop=0"] + (settings.isBitExact ? ["cpu-independent=1"] : []) + x264HDR(settings))]
        case "libx265": [("x265-params", x265(settings) + x265HDR(settings))]
        case "libsvtav1": [("svtav1-params", svt(settings) + svtHDR(settings))]
        default: []
        }
    }

    /// x265 sizes its thread pool and the number of frames in flight by the machine, and the latter changes the bytes. Its
    /// information SEI names the processor's instruction sets.
    private static func x265(_ settings: CompressionSettings) -> [String] {
        let pool = settings.threads == 1 ? "pools=none" : "pools=\(settings.threads)"
        return ["log-level=none", "open-gop=0", pool, "frame-threads=\(x265FrameThreads(for: settings.threads))"]
            + (settings.isBitExact ? ["info=0"] : [])
    }

    /// x265's own table of frames in flight, asked with the wanted threads instead of the machine's.
    static func x265FrameThreads(for threads: Int) -> Int {
        switch threads {
        case ..<4: 1
        case 4..<8: 2
        case 8..<16: 3
        case 16..<32: 4
        default: 6
        }
    }

    /// SVT-AV1 makes keyframes on demand only when told beforehand, and only without rate control.
    private static func svt(_ settings: CompressionSettings) -> [String] {
        ["lp=\(settings.threads)"] + (settings.bitrate == 0 ? ["enable-force-key-frames=1"] : [])
    }

    // MARK: Static HDR metadata

    private static func x265HDR(_ settings: CompressionSettings) -> [String] {
        var parameters: [String] = []
        if let display = settings.masteringDisplay { parameters.append("master-display=\(display.codedText)") }
        if let light = settings.contentLight { parameters.append("max-cll=\(light.text)") }
        return parameters
    }

    private static func x264HDR(_ settings: CompressionSettings) -> [String] {
        var parameters: [String] = []
        if let display = settings.masteringDisplay { parameters.append("mastering-display=\(display.codedText)") }
        if let light = settings.contentLight { parameters.append("cll=\(light.text)") }
        return parameters
    }

    private static func svtHDR(_ settings: CompressionSettings) -> [String] {
        var parameters: [String] = []
        if let display = settings.masteringDisplay { parameters.append("mastering-display=\(display.decimalText)") }
        if let light = settings.contentLight { parameters.append("content-light=\(light.text)") }
        return parameters
    }
}

extension ContentLight {
    fileprivate var text: String { "\(maximum),\(maximumFrameAverage)" }
}

extension MasteringDisplay {
    /// x264's and x265's form, in the units of H.265 §D.3.28.
    fileprivate var codedText: String {
        func text(_ point: Point) -> String { "(\(point.x),\(point.y))" }
        return "G\(text(green))B\(text(blue))R\(text(red))WP\(text(white))L(\(maximumLuminance),\(minimumLuminance))"
    }

    /// SVT-AV1's form, in plain numbers.
    fileprivate var decimalText: String {
        func decimal(_ value: Int, per unit: Int) -> String {
            let scaled = value * (100_000 / unit)
            let fraction = String(scaled % 100_000)
            return "\(scaled / 100_000).\(String(repeating: "0", count: 5 - fraction.count))\(fraction)"
        }
        func text(_ point: Point) -> String { "(\(decimal(point.x, per: 50_000)),\(decimal(point.y, per: 50_000)))" }
        let luminance = "(\(decimal(maximumLuminance, per: 10_000)),\(decimal(minimumLuminance, per: 10_000)))"
        return "G\(text(green))B\(text(blue))R\(text(red))WP\(text(white))L\(luminance)"
    }
}
