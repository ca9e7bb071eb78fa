internal import ClusterProtocol

/// What is carried and what is lost, as people read it, in 80 columns.
enum CarriedTable {
    static let width = 80

    static func text(_ items: [CarriedItem]) -> String {
        var table = TextTable([.init("carried"), .init("source"), .init("how"), .init("what")])
        for item in items {
            let count = item.count.map { Wording.count($0, item.kind == .chapters ? "chapter" : "tag") }
            let place = item.track.map { " \($0)" } ?? ""
            let what = [item.language, item.title].compactMap(\.self).joined(separator: " ")
            table.add(["\(item.kind.name)\(place)", count ?? item.from, how(item), what])
        }
        return table.text.split(separator: "\n").map { fitted(String($0)) + "\n" }.joined()
    }

    /// Sentences, each behind the same word and indented under it.
    static func notes(_ sentences: [String], _ word: String) -> String {
        sentences.map { sentence in
            let lines = Help.wrap(TextTable.printable(sentence), indent: word.count + 2, width: width)
            return "\(word): " + lines.drop { $0 == " " }
        }.joined()
    }

    private static func how(_ item: CarriedItem) -> String {
        switch item.how {
        case .copied: "copied"
        case .encoded: item.from == item.to ? "encoded anew" : "encoded as \(item.to)"
        case .converted: "converted to \(item.to)"
        case .inVideo: "in the video"
        }
    }

    private static func fitted(_ line: String) -> String {
        line.count <= width ? line : line.prefix(width - 1) + "…"
    }
}

extension CarriedItem.Kind {
    fileprivate var name: String {
        switch self {
        case .video: "picture"
        case .audio: "sound"
        case .timecode: "time code"
        case .hdr: "HDR"
        case .subtitle, .data, .cover, .attachment, .chapters, .captions, .tags: rawValue
        }
    }
}

extension CarriedItem {
    /// "picture h264 → hevc", "sound aac copied": a few words for a summary.
    var words: String {
        let form =
            switch how {
            case .copied: "copied"
            case .inVideo: "in the video"
            case .encoded, .converted: "→ \(to)"
            }
        let many = (count ?? 0) > 1 ? "\(count ?? 0) " : ""
        let name = kind == .tags && count == 1 ? "tag" : kind.name
        return ["\(many)\(name)", count == nil ? from : "", form].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
