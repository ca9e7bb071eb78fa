/// How a list of segments reads in a sentence.
enum SegmentList {
    /// "Segment 4", "Segments 1, 2, 3", "Segments 0, 1, …, 9 and 90 more".
    static func sentence(_ indices: [Int]) -> String {
        "Segment\(indices.count == 1 ? "" : "s") \(words(indices))"
    }

    /// "1, 2, 3", and of long lists the first few.
    static func words(_ indices: [Int]) -> String {
        let shown = indices.prefix(10).map(String.init).joined(separator: ", ")
        return indices.count > 10 ? "\(shown) and \(indices.count - 10) more" : shown
    }
}
