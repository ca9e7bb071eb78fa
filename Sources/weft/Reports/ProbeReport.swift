internal import MediaTime

/// What `weft probe` says about a source.
struct ProbeReport: Codable, Hashable, Sendable {
    var source: String
    var container: String
    /// Bytes; `nil` where the source does not tell.
    var size: Int64?
    var duration: MediaTime?
    var start: MediaTime?
    var metadata: [String: String]
    var tracks: [Track]
    var chapters: [Chapter]
    var warnings: [String]

    struct Track: Codable, Hashable, Sendable {
        var index: Int
        /// `video`, `audio`, `subtitle`, `data`, `attachment`.
        var kind: String
        var codec: String
        var profile: String?
        var language: String?
        var timescale: Int32?
        var start: MediaTime?
        var duration: MediaTime?
        var bitrate: Int64?
        var width: Int?
        var height: Int?
        var pixelFormat: String?
        var frameRate: String?
        var sampleAspectRatio: String?
        /// Primaries/transfer/matrix/range, in libav's names.
        var colour: String?
        /// Degrees clockwise.
        var rotation: Double?
        var sampleRate: Int?
        var channels: String?
        /// Side data, by kind.
        var attachments: [String]
        var metadata: [String: String]
        var edits: Int
    }

    struct Chapter: Codable, Hashable, Sendable {
        var title: String
        var start: MediaTime
        var end: MediaTime
    }
}

extension ProbeReport {
    var text: String {
        var head = "\(source)\n  \(container)"
        if let duration { head += ", \(Wording.clock(duration.seconds))" }
        if let size { head += ", \(Wording.bytes(size))" }
        var table = TextTable([
            .init("track", .right), .init("kind"), .init("codec"), .init("format"), .init("start", .right),
            .init("length", .right), .init("language"), .init("carries"),
        ])
        for track in tracks {
            table.add([
                "\(track.index)", track.kind, track.codec + (track.profile.map { " (\($0))" } ?? ""), track.formatText,
                track.start.map { Wording.clock($0.seconds, decimals: 3) } ?? "",
                track.duration.map { Wording.clock($0.seconds, decimals: 3) } ?? "", track.language ?? "",
                track.carriesText,
            ])
        }
        var parts = [head + "\n\n" + table.text]
        if !chapters.isEmpty {
            var list = TextTable([.init("chapter", .right), .init("start", .right), .init("title")])
            for (number, chapter) in chapters.enumerated() {
                list.add(["\(number + 1)", Wording.clock(chapter.start.seconds, decimals: 3), chapter.title])
            }
            parts.append(list.text)
        }
        if !metadata.isEmpty {
            var list = TextTable([.init("tag"), .init("value")])
            for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { list.add([key, value]) }
            parts.append(list.text)
        }
        if !warnings.isEmpty { parts.append(warnings.map { "note: \($0)\n" }.joined()) }
        return parts.joined(separator: "\n")
    }
}

extension ProbeReport.Track {
    /// "1920x1080 yuv420p 30000/1001 fps" or "48000 Hz stereo".
    var formatText: String {
        var words: [String] = []
        if let width, let height { words.append("\(width)x\(height)") }
        if let pixelFormat { words.append(pixelFormat) }
        if let frameRate { words.append("\(Wording.rate(frameRate)) fps") }
        if let sampleAspectRatio, sampleAspectRatio != "1:1" { words.append("pixels \(sampleAspectRatio)") }
        if let colour { words.append(colour) }
        if let sampleRate { words.append("\(sampleRate) Hz") }
        if let channels { words.append(channels) }
        return words.joined(separator: " ")
    }

    var carriesText: String {
        var words = attachments
        if let rotation, rotation != 0 { words.append("rotation \(Wording.decimal(rotation, 0))°") }
        if edits > 0 { words.append(Wording.count(edits, "edit")) }
        return words.joined(separator: ", ")
    }
}
