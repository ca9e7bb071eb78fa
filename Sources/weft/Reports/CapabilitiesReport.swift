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
    var text: String {
        var table = TextTable([
            .init("codec"), .init("encoder"), .init("kind"), .init("here"), .init("pixel formats"),
        ])
        for encoder in encoders {
            table.add([
                encoder.codec, encoder.name, encoder.hardware ? "hardware" : "software",
                encoder.usable ? "yes" : "no" + (encoder.reason.map { ": \($0)" } ?? ""),
                Wording.few(encoder.pixelFormats, limit: 6),
            ])
        }
        let versions = libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return "weft \(version); \(versions.joined(separator: ", "))\n"
            + "\(Wording.count(cores, "core")), \(Wording.bytes(memoryBytes)) of memory\n\n" + table.text
    }
}
