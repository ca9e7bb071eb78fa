internal import ClusterProtocol

/// What this machine can encode.
struct CapabilitiesReport: Codable, Hashable, Sendable {
    var version: String
    /// Library name to version.
    var libraries: [String: String]
    var cores: Int
    var memoryBytes: Int64
    var encoders: [Encoder]

    struct Encoder: Codable, Hashable, Sendable {
        var name: String
        var codec: String
        var hardware: Bool
        /// Whether it could really be opened here.
        var usable: Bool
        var pixelFormats: [String]
        /// Why it is not usable.
        var reason: String?
    }
}

extension CapabilitiesReport {
    /// - Parameter all: also encoders that no `--video-codec` reaches.
    func text(all: Bool) -> String {
        let codecs = ExportSettings.VideoCodec.allCases.map(\.rawValue)
        let shown = all ? encoders : encoders.filter { codecs.contains($0.codec) }
        var table = TextTable([
            .init("codec"), .init("encoder"), .init("kind"), .init("here"), .init("pixel formats"),
        ])
        for encoder in shown {
            table.add([
                encoder.codec, encoder.name, encoder.hardware ? "hardware" : "software", encoder.usable ? "yes" : "no",
                Wording.few(encoder.pixelFormats, limit: 3),
            ])
        }
        let versions = libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let head =
            "weft \(version); \(versions.joined(separator: ", "))\n"
            + "\(Wording.count(cores, "core")), \(Wording.bytes(memoryBytes)) of memory\n\n"
        let reasons = shown.compactMap { encoder in encoder.reason.map { "  \(encoder.name): \($0)\n" } }
        return head + table.text + (reasons.isEmpty ? "" : "\nwhy not:\n" + reasons.joined())
    }
}
