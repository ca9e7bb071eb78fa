/// How an ISO base media file is laid out: the order of its outermost boxes, and which tables its index has (ISO/IEC 14496-12
/// §4.2, §6.2.3). Reads headers of boxes only.
package struct MovieLayout {
    private var places: [String: Int64] = [:]
    private var tables: Set<String> = []
    /// Where the media ends, as far as its boxes tell.
    package private(set) var mediaEnd: Int64 = 0
    /// Every box ends within the file.
    package private(set) var isWhole = true

    /// - Returns: `nil` where the path is no file.
    package init?(ofFileAt path: String) {
        guard let file = BoxFile(path: path) else { return nil }
        let boxes = file.children(of: 0..<file.size)
        for box in boxes {
            if places[box.type] == nil { places[box.type] = box.body.lowerBound }
            if box.declaredEnd > file.size { isWhole = false }
            if box.type == "mdat" { mediaEnd = max(mediaEnd, box.declaredEnd) }
        }
        var inside = boxes.filter { $0.type == "moov" }.prefix(1).map(\.body)
        for type in ["trak", "mdia", "minf", "stbl"] {
            inside = inside.flatMap { file.children(of: $0) }.filter { $0.type == type }.map(\.body)
        }
        tables = Set(inside.flatMap { file.children(of: $0) }.map(\.type))
    }

    /// Where the first outermost box of a type lies; `nil` for none.
    package func first(_ type: String) -> Int64? { places[type] }

    /// Whether a track's sample table has a box of this type.
    package func indexHas(_ table: String) -> Bool { tables.contains(table) }
}
