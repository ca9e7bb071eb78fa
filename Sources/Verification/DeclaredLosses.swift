/// What is known to be lost: from the report of the export, or because whoever asks accepts it.
package struct DeclaredLosses: Sendable, Hashable {
    /// One sentence each, as an export's report lists them.
    package var sentences: [String]
    /// Kinds of findings that are accepted altogether.
    package var kinds: Set<Finding.Kind>
    /// Where damage of the source took pictures away, as an export's report names it.
    package var dropped: [Dropped]

    /// Pictures of a track that are not in the output: seconds of its time line.
    package struct Dropped: Sendable, Hashable {
        package var track: Int
        package var start: Double
        package var end: Double
        package var frames: Int

        package init(track: Int, start: Double, end: Double, frames: Int) {
            self.track = track
            self.start = start
            self.end = end
            self.frames = frames
        }
    }

    package init(sentences: [String] = [], kinds: Set<Finding.Kind> = [], dropped: [Dropped] = []) {
        self.sentences = sentences
        self.kinds = kinds
        self.dropped = dropped
    }

    /// How many pictures the track has lost before its first one in the output.
    func lead(ofTrack track: Int) -> Int {
        let own = dropped.filter { $0.track == track }.sorted { $0.start < $1.start }
        var end: Double?
        var count = 0
        for range in own where end.map({ range.start <= $0 + 0.001 }) ?? (range.start < 0.05) {
            end = range.end
            count += range.frames
        }
        return count
    }

    /// Whether damage explains every one of these missing pictures, and no fewer were named.
    ///
    /// - Parameter times: seconds of the output, which a container without negative times may have shifted by some milliseconds.
    func explains(_ times: [Double], ofTrack track: Int) -> Bool {
        let own = dropped.filter { $0.track == track }
        guard times.count <= own.reduce(0, { $0 + $1.frames }) else { return false }
        return times.allSatisfy { time in own.contains { time > $0.start - 0.05 && time < $0.end + 0.05 } }
    }

    /// Words of which one stands in a sentence that declares such a loss. Kinds that are missing here, such as pictures and their
    /// times, can be accepted by kind, never by a sentence.
    private static let words: [Finding.Kind: [String]] = [
        .cropping: ["crop"], .rotation: ["rotat", "turn", "mirror", "orient"],
        .hdr: ["hdr", "dolby", "mastering", "light level"],
        .chapters: ["chapter"], .tags: ["tag"], .language: ["language"], .timecode: ["timecode", "time code"],
        .colour: ["colour", "range", "primaries", "transfer", "matrix"], .aspect: ["aspect", "pixel"],
        .captions: ["subtitle", "caption", "style"], .disposition: ["disposition", "mark"],
        .channels: ["channel", "layout"],
    ]

    func covers(_ finding: Finding) -> Bool {
        if kinds.contains(finding.kind) { return true }
        return sentences.contains { sentence in
            let text = sentence.lowercased()
            let namesTrack = text.contains("track \(finding.track) ") || text.contains("track \(finding.track),")
            switch finding.kind {
            case .missingTrack: return namesTrack
            case .missing: return finding.detail.contains("captions") && text.contains("caption")
            default: return (Self.words[finding.kind] ?? []).contains { text.contains($0) }
            }
        }
    }
}

extension VerificationReport {
    /// Puts apart what was declared beforehand.
    mutating func accept(_ losses: DeclaredLosses) {
        accepted += findings.filter(losses.covers)
        findings.removeAll(where: losses.covers)
    }
}
