/// Where the first segment's decoding starts, and the keyframe whose group its start lies in.
struct Opening {
    let entry: Keyframe
    let keyframe: Keyframe
    let hasKeyframe: Bool
    /// Frames of the range precede the first keyframe.
    let startsBeforeKeyframe: Bool

    /// - Parameter keyframes: With rising PTS.
    init(index: KeyframeIndex, keyframes: [Keyframe], start: Int64, end: Int64) {
        let before = keyframes.prefix { $0.pts <= start }
        let first = keyframes.first
        let firstSample = Keyframe.firstSample(of: index, before: first)
        keyframe = before.last ?? first ?? firstSample
        hasKeyframe = first != nil
        startsBeforeKeyframe = before.isEmpty
        // Decoding from the first sample is what a one-pass decode does, so it is the best there is.
        let beginning = if let first, first.ordinal <= 0 { first } else { firstSample }
        entry = before.last { $0.kind.isUsable } ?? beginning
    }
}

extension Keyframe {
    /// Stands for the track's first sample in decode order where that is no keyframe: ordinal 0, position unknown.
    /// A reader goes to the beginning of the track.
    static func firstSample(of index: KeyframeIndex, before first: Keyframe?) -> Keyframe {
        Keyframe(
            pts: index.start, dts: min(index.start, first?.dts ?? index.start), position: -1, ordinal: 0,
            kind: .doubtful)
    }
}

extension Keyframe.Kind {
    /// Whether decoding that starts here gives every picture of the group right.
    package var isUsable: Bool {
        switch self {
        case .clean, .open: true
        case .recovery, .doubtful: false
        }
    }
}

extension KeyframeIndex {
    /// The keyframes before the track's end whose PTS exceeds that of all before them in decode order.
    var risingKeyframes: [Keyframe] {
        var rising: [Keyframe] = []
        rising.reserveCapacity(keyframes.count)
        for keyframe in keyframes where keyframe.pts < end {
            if let last = rising.last, keyframe.pts <= last.pts { continue }
            rising.append(keyframe)
        }
        return rising
    }
}
