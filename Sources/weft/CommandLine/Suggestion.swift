/// The word that somebody who mistyped most likely meant.
enum Suggestion {
    /// What other programs call it.
    private static let synonyms = [
        "crf": "quality", "cq": "quality", "qp": "quality", "vcodec": "video-codec", "acodec": "audio", "vf": "filter",
        "h265": "hevc", "h.265": "hevc", "x265": "hevc", "libx265": "hevc", "h.264": "h264", "avc": "h264",
        "x264": "h264", "libx264": "h264", "svtav1": "av1", "libsvtav1": "av1",
    ]

    /// The nearest of `words`, if it is near enough to be more than a guess.
    static func nearest(to word: String, among words: [String]) -> String? {
        guard !word.isEmpty else { return nil }
        if let meant = synonyms[word.lowercased()], words.contains(meant) { return meant }
        let scored = words.map { (word: $0, distance: distance(word, $0)) }
        let prefixed = words.filter { $0.hasPrefix(word) && word.count >= 3 }
        if prefixed.count == 1 { return prefixed[0] }
        guard let best = scored.min(by: { ($0.distance, $0.word) < ($1.distance, $1.word) }) else { return nil }
        return best.distance <= max(1, word.count / 3) ? best.word : nil
    }

    /// " Did you mean '…'?" or nothing.
    static func sentence(for word: String, among words: [String], prefix: String = "") -> String {
        nearest(to: word, among: words).map { " Did you mean '\(prefix)\($0)'?" } ?? ""
    }

    /// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
    static func distance(_ first: String, _ second: String) -> Int {
        let a = Array(first), b = Array(second)
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var rows = [Array(0...b.count)]
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                var cost = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    cost = min(cost, rows[i - 2][j - 2] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
