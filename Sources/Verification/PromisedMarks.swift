package import Media

/// What an output was to have beside its tracks: chapters, a time code, tags.
package struct PromisedMarks: Sendable {
    package var container: Container
    package var chapters: Int
    package var timecode: String?
    package var tags: Metadata

    package init(container: Container, chapters: Int, timecode: String?, tags: Metadata) {
        self.container = container
        self.chapters = chapters
        self.timecode = timecode
        self.tags = tags
    }

    /// What the file, read again, does not tell; one sentence each.
    func lacking(in file: Demuxer) -> [String] {
        // A transport stream has a service's name, and nothing of the rest.
        guard container != .mpegTS else { return [] }
        var words: [String] = []
        let found = file.chapters.count
        if found < chapters { words.append("\(chapters - found) of \(chapters) chapters did not reach the file.") }
        let codes = ([file.metadata] + file.tracks.map(\.metadata)).compactMap { $0["timecode"] }
        if let timecode, !codes.contains(timecode) {
            words.append("The time code \(timecode) did not reach the file.")
        }
        for tag in tags where tag.key.lowercased() != "timecode" && !tag.value.isEmpty && file.metadata[tag.key] == nil
        {
            words.append("The tag “\(tag.key)” did not reach the file.")
        }
        return words
    }
}
