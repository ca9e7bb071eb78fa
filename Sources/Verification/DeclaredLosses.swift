/// What is known to be lost: from the report of the export, or because whoever asks accepts it.
package struct DeclaredLosses: Sendable, Hashable {
    /// One sentence each, as an export's report lists them.
    package var sentences: [String]
    /// Kinds of findings that are accepted altogether.
    package var kinds: Set<Finding.Kind>

    package init(sentences: [String] = [], kinds: Set<Finding.Kind> = []) {
        self.sentences = sentences
        self.kinds = kinds
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
