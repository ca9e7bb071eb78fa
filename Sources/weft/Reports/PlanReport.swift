internal import ClusterProtocol
internal import MediaTime

/// What `weft plan` says: the segments a source is cut into.
struct PlanReport: Codable, Hashable, Sendable {
    var source: String
    /// Index of the video track.
    var track: Int
    var codec: String
    var timescale: Int32
    /// `container` when the container's own index told the keyframes, `scan` when every packet was looked at.
    var index: String
    var keyframes: Int
    /// Of the source, to make the plan.
    var bytesRead: Int64
    /// Of the whole source; `nil` where it does not tell.
    var sourceBytes: Int64?
    var duration: MediaTime
    var segments: [Segment]
    var warnings: [String]
    /// What the source's tracks would be carried into: "MP4"; `nil` where a plain export would be refused.
    var target: String?
    /// What of the source reaches the output, and how.
    var carried: [CarriedItem]
    /// What does not.
    var losses: [String]

    struct Segment: Codable, Hashable, Sendable {
        var index: Int
        var start: MediaTime
        /// Exclusive.
        var end: MediaTime
        var keyframePts: MediaTime
        /// Leading pictures of the segment's keyframe: they belong to the segment before.
        var leading: Int
        /// Where decoding begins, when that is before the segment's own keyframe.
        var entryPts: MediaTime?
    }
}

extension PlanReport {
    var text: String {
        var head = "\(source)\n  track \(track) (\(codec)), \(Wording.count(keyframes, "keyframe")), "
        head += "\(Wording.count(segments.count, "segment")), \(Wording.clock(duration.seconds, decimals: 3))\n"
        head += index == "container" ? "  from the container's index; " : "  from a scan of every packet; "
        head += "read \(Wording.bytes(bytesRead))"
        head += (sourceBytes.map { " (the source has \(Wording.bytes($0)))" } ?? "") + "\n\n"
        var table = TextTable([
            .init("segment", .right), .init("start", .right), .init("end", .right), .init("length", .right),
            .init("keyframe", .right), .init("leading", .right), .init("pre-roll"),
        ])
        for segment in segments {
            table.add([
                "\(segment.index)", Wording.clock(segment.start.seconds, decimals: 3),
                Wording.clock(segment.end.seconds, decimals: 3),
                Wording.decimal(segment.end.seconds - segment.start.seconds, 3), "\(segment.keyframePts.value)",
                "\(segment.leading)", segment.entryPts.map { "from \(Wording.clock($0.seconds, decimals: 3))" } ?? "",
            ])
        }
        var tail = carried.isEmpty ? "" : "\ninto \(target ?? "?")\n" + CarriedTable.text(carried)
        tail += losses.isEmpty ? "" : "\n" + CarriedTable.notes(losses, "lost")
        tail += warnings.isEmpty ? "" : "\n" + CarriedTable.notes(warnings, "note")
        return head + table.text + tail
    }
}
