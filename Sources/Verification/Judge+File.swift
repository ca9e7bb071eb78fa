internal import ClusterProtocol
internal import Foundation
internal import Media
internal import MediaTime

/// What belongs to the file as a whole: chapters, tags, structure.
extension Judge {
    /// - Parameter shift: output time minus source time, in seconds.
    mutating func chapters(_ source: FileScan, _ output: FileScan, shift: Double) {
        guard !source.chapters.isEmpty else { return }
        guard source.chapters.count == output.chapters.count else {
            return find(
                .chapters, "The source has \(source.chapters.count) chapters, the output \(output.chapters.count).")
        }
        for (number, (left, right)) in zip(source.chapters, output.chapters).enumerated() {
            if let title = left.title, title != right.title {
                find(
                    .chapters,
                    "Chapter \(number + 1) is \"\(title)\" in the source and \"\(right.title ?? "")\" in the output.")
            }
            let moved = right.startSeconds - shift - left.startSeconds
            // QuickTime's and Nero's chapters tell milliseconds at best.
            if abs(moved) > 0.05 {
                find(.chapters, "Chapter \(number + 1) starts \(Seconds.signedMilliseconds(moved)) off.")
            }
        }
    }

    /// Tags that say something of the work; all others are about a file or its writer.
    private static let works: Set<String> = [
        "title", "artist", "album", "album_artist", "composer", "comment", "genre", "date", "copyright", "description",
        "synopsis", "show", "episode_id", "season_number", "episode_sort", "network", "lyrics", "grouping", "track",
        "disc",
    ]
    private static let writers: Set<String> = [
        "encoder", "major_brand", "minor_version", "compatible_brands", "creation_time", "duration", "handler_name",
        "vendor_id", "encoding_tool", "language",
    ]

    mutating func tags(_ source: FileScan, _ output: FileScan) {
        let holdsTags = !output.containerName.contains("mpegts")
        for entry in source.metadata {
            let key = entry.key.lowercased()
            guard !Self.writers.contains(key), output.metadata[entry.key] != entry.value else { continue }
            let found = output.metadata[entry.key].map { "\"\($0)\"" } ?? "nothing"
            let text = "The tag \(entry.key) is \"\(entry.value)\" in the source and \(found) in the output."
            if holdsTags, Self.works.contains(key) { find(.tags, text) } else { note(.tags, text) }
        }
    }

    mutating func structure(of path: String, _ output: FileScan) {
        guard output.containerName.contains("mp4"), let boxes = TopLevelBoxes(path: path) else { return }
        if let index = boxes.first("moov"), let media = boxes.first("mdat"), index > media {
            note(.container, "The index follows the media: the file cannot be played while it is loaded.")
        }
        if boxes.first("moov") == nil { find(.container, "The file has no index (moov).") }
    }
}

extension Chapter {
    /// For text and a coarse comparison.
    fileprivate var startSeconds: Double {
        Double(start) * Double(timeBase.numerator) / Double(timeBase.denominator)
    }
}

/// The order of an MP4 file's outermost boxes (ISO/IEC 14496-12 §4.2).
struct TopLevelBoxes {
    private var offsets: [String: UInt64] = [:]

    /// - Returns: `nil` where the path is no file.
    init?(path: String) {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let end = try? file.seekToEnd() else { return nil }
        var offset: UInt64 = 0
        // More boxes than this at the outermost level are fragments, whose order is not of interest.
        for _ in 0..<1024 {
            guard offset + 8 <= end, (try? file.seek(toOffset: offset)) != nil,
                let header = try? file.read(upToCount: 16), header.count >= 8
            else { return }
            let bytes = Array(header)
            func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
            let name = String(decoding: bytes[4..<8], as: UTF8.self)
            if offsets[name] == nil { offsets[name] = offset }
            var size = number(0..<4)
            if size == 1 {
                guard bytes.count >= 16 else { return }
                size = number(8..<16)
            }
            let (next, overflow) = offset.addingReportingOverflow(size)
            guard size >= 8, !overflow else { return }
            offset = next
        }
    }

    func first(_ name: String) -> UInt64? { offsets[name] }
}
