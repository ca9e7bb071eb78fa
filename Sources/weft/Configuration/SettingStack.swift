internal import ClusterProtocol

/// The layers of settings laid over each other: flags beat `WEFT_…` variables beat the configuration file beats the preset.
struct SettingStack: Sendable {
    private(set) var merged = SettingLayer()
    /// What a higher layer made pointless in a lower one, for the user to know.
    private(set) var notes: [String] = []

    /// - Parameter layers: the strongest first.
    init(_ layers: [SettingLayer]) {
        for layer in layers.reversed() { lay(layer) }
    }

    private mutating func lay(_ layer: SettingLayer) {
        if Self.rate.contains(where: { layer.values[$0] != nil }) { drop(Self.rate, reason: nil) }
        dropWhatMeantAnotherEncoder(layer)
        if let audio = layer.values["audio"], let before = merged.values["audio"], audio != before {
            drop(["audio-bitrate"], reason: "it is meant for \(before[0])")
        }
        for (option, values) in layer.values {
            let keepsOthers = option == "encoder-option"
            merged.values[option] = keepsOthers ? (merged.values[option] ?? []) + values : values
            merged.origins[option] = layer.origins[option]
        }
    }

    private static let rate = ["quality", "bitrate", "size"]

    /// A crf of libx264 says nothing to libsvtav1: when a layer picks another codec or encoder, what the layers below
    /// say in the words of theirs goes.
    private mutating func dropWhatMeantAnotherEncoder(_ layer: SettingLayer) {
        let encoder = layer.values["encoder"]?.last
        let stated = layer.values["video-codec"]?.last
        let codec = stated ?? encoder.flatMap(EncoderName.codec)?.rawValue
        let codecBefore = merged.values["video-codec"]?.last
        let encoderBefore = merged.values["encoder"]?.last
        let changesCodec = codec != nil && codecBefore != nil && codec != codecBefore
        let changesEncoder = encoder != nil && encoderBefore != nil && encoder != encoderBefore
        guard changesCodec || changesEncoder else { return }
        let reason = "it is meant for \(encoderBefore ?? codecBefore ?? "another encoder")"
        if changesCodec { drop(["video-codec", "encoder"], reason: nil) }
        drop(["quality", "encoder-option"], reason: reason)
        if codec == ExportSettings.VideoCodec.copy.rawValue {
            drop(
                ["bitrate", "size", "filter", "filter-margin", "deinterlace", "tonemap", "apply-rotation"],
                reason: "samples are copied")
        }
    }

    private mutating func drop(_ options: [String], reason: String?) {
        for option in options {
            guard let values = merged.values.removeValue(forKey: option) else { continue }
            let origin = merged.origins.removeValue(forKey: option)
            guard let reason else { continue }
            let place: String =
                switch origin {
                case .file(let path, _): " of \(path)"
                case .variable(let name): " of \(name)"
                default: ""
                }
            notes.append("\(option) \(values.joined(separator: " "))\(place) is left out: \(reason).")
        }
    }
}

/// What can be told from an encoder's name alone.
enum EncoderName {
    /// The codec that a libavcodec encoder writes; `nil` for words such as `auto` and for encoders not known by name.
    static func codec(_ name: String) -> ExportSettings.VideoCodec? {
        if name.hasPrefix("libx264") || name == "libopenh264" || name.hasPrefix("h264_") { return .h264 }
        if name == "libx265" || name == "libkvazaar" || name.hasPrefix("hevc_") { return .hevc }
        if name == "libsvtav1" || name.hasPrefix("libaom") || name == "librav1e" || name.hasPrefix("av1_") {
            return .av1
        }
        if name == "libvpx-vp9" || name.hasPrefix("vp9_") { return .vp9 }
        if name.hasPrefix("prores") { return .prores }
        return name == "copy" ? .copy : nil
    }
}
