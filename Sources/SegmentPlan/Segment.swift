/// A half-open range of presentation time that starts at a keyframe, with a fixed index. It owns exactly the frames
/// whose PTS lies in [start, end).
package struct Segment: Hashable, Sendable, Codable {
    package var index: Int
    /// Ticks of the track's time base.
    package var start: Int64
    package var end: Int64
    /// The sample that decoding starts at: the segment's own keyframe, or an earlier one where a clean start is in doubt (pre-roll).
    package var entry: Keyframe
    /// The segment's own first keyframe.
    package var keyframe: Keyframe
    /// The keyframe after the segment, `nil` for the last. Reading stops after its leading pictures.
    package var next: Keyframe?

    package init(index: Int, start: Int64, end: Int64, entry: Keyframe, keyframe: Keyframe, next: Keyframe?) {
        self.index = index
        self.start = start
        self.end = end
        self.entry = entry
        self.keyframe = keyframe
        self.next = next
    }
}
