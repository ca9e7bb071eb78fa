/// A half-open range of presentation time that starts at a keyframe, with a fixed index. It owns exactly the frames
/// whose PTS lies in [start, end).
package struct Segment: Hashable, Sendable, Codable {
    package var index: Int
    /// Ticks of the track's time base. The keyframe's PTS, but for the first segment, which starts where the track or
    /// the exported range starts.
    package var start: Int64
    package var end: Int64
    /// The sample that decoding starts at: the segment's own keyframe, or an earlier one where a clean start is in
    /// doubt or the segment starts inside a group (pre-roll). Ordinal 0 with position −1 is the track's first sample.
    package var entry: Keyframe
    /// The keyframe of the group that the segment's start lies in; the track's first where that comes later.
    package var keyframe: Keyframe
    /// The first keyframe not before the segment's end, `nil` where the track ends. Reading stops after its leading
    /// pictures. A range that ends inside a group ends before it.
    package var next: Keyframe?
    /// The entry of the segment before: where decoding enters when this one's own turns out to be damaged.
    package var earlier: Keyframe?
    /// The jumps of the source's clock between the entry and the last sample read, in decode order.
    package var jumps: [TimelineJump] = []

    package init(index: Int, start: Int64, end: Int64, entry: Keyframe, keyframe: Keyframe, next: Keyframe?) {
        self.index = index
        self.start = start
        self.end = end
        self.entry = entry
        self.keyframe = keyframe
        self.next = next
    }
}

extension Segment {
    private enum CodingKeys: String, CodingKey {
        case index, start, end, entry, keyframe, next, earlier, jumps
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            index: try container.decode(Int.self, forKey: .index),
            start: try container.decode(Int64.self, forKey: .start),
            end: try container.decode(Int64.self, forKey: .end),
            entry: try container.decode(Keyframe.self, forKey: .entry),
            keyframe: try container.decode(Keyframe.self, forKey: .keyframe),
            next: try container.decodeIfPresent(Keyframe.self, forKey: .next))
        earlier = try container.decodeIfPresent(Keyframe.self, forKey: .earlier)
        // Plans of before there were jumps lack them.
        jumps = try container.decodeIfPresent([TimelineJump].self, forKey: .jumps) ?? []
    }
}
