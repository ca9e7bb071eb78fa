public import MediaTime

/// A named range of the presentation.
public struct Chapter: Sendable, Hashable {
    public var id: Int64
    /// Unit of `start` and `end`.
    public var timeBase: TimeBase
    /// Ticks; the range is half-open.
    public var start: Int64
    public var end: Int64
    /// `title` and what else the file says about it.
    public var metadata: Metadata

    public init(id: Int64, timeBase: TimeBase, start: Int64, end: Int64, metadata: Metadata = [:]) {
        self.id = id
        self.timeBase = timeBase
        self.start = start
        self.end = end
        self.metadata = metadata
    }

    public var title: String? { metadata["title"] }
}
