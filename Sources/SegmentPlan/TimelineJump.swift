/// A sample of the picture track from which on other times are added to the source's own: pieces were joined there, or the
/// program's clock was set anew.
///
/// Whether a step in one track's times is a jump is seen only beside the program's other tracks, from the beginning on. So it is
/// decided once, when the source is planned, and told to whoever begins to read in the middle.
package struct TimelineJump: Hashable, Sendable, Codable {
    /// Ordinal of the sample in decode order within its track.
    package var ordinal: Int
    /// Byte offset of the sample in the source, −1 where unknown.
    package var position: Int64
    /// Decode time as it stands in the source, and on the one time line.
    package var raw: Int64
    package var dts: Int64

    package init(ordinal: Int, position: Int64, raw: Int64, dts: Int64) {
        self.ordinal = ordinal
        self.position = position
        self.raw = raw
        self.dts = dts
    }
}

extension KeyframeIndex {
    /// Samples read beyond a segment at most, for filters that look ahead.
    private static let readAhead = 512

    /// The segments, each with the jumps that its reader meets.
    package func addingJumps(to segments: [Segment]) -> [Segment] {
        guard !jumps.isEmpty else { return segments }
        return segments.map { segment in
            var segment = segment
            let first = min(segment.entry.ordinal, segment.earlier?.ordinal ?? .max)
            let last = segment.next.map { $0.ordinal + Self.readAhead } ?? .max
            segment.jumps = jumps.filter { $0.ordinal >= first && $0.ordinal <= last }
            return segment
        }
    }
}
