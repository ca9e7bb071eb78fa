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
            guard !Self.writers.contains(key), key != "timecode", output.metadata[entry.key] != entry.value else {
                continue
            }
            let found = output.metadata[entry.key].map { "\"\($0)\"" } ?? "nothing"
            let text = "The tag \(entry.key) is \"\(entry.value)\" in the source and \(found) in the output."
            if holdsTags, Self.works.contains(key) { find(.tags, text) } else { note(.tags, text) }
        }
    }
}

extension Chapter {
    /// For text and a coarse comparison.
    fileprivate var startSeconds: Double {
        Double(start) * Double(timeBase.numerator) / Double(timeBase.denominator)
    }
}
