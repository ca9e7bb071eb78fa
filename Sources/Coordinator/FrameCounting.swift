/// Recognises filters whose result depends on how many frames they have seen, or on the first one.
///
/// Every segment has a filter graph of its own, so such a filter would begin anew at every join. What is not known is told by
/// its words: an expression that names a frame number counts. To take one too many costs speed, one too few the picture.
enum FrameCounting {
    static func isFound(in filter: FilterTraits.Filter) -> Bool {
        if always.contains(filter.name) { return true }
        let words = words(of: filter.arguments)
        switch filter.name {
        case "fade":
            // By time only where a duration in time is given; otherwise it lasts 25 frames from frame 0.
            if !words.contains(where: { $0.isKey && ["d", "duration"].contains($0.text) }) { return true }
        case "noise":
            if isTemporalNoise(filter.arguments) { return true }
        default: break
        }
        if filter.name == "perspective", words.contains(where: { !$0.isKey && ["in", "on"].contains($0.text) }) {
            return true
        }
        return words.contains { $0.isKey ? countingKeys.contains($0.text) : countingNames.contains($0.text) }
    }

    // MARK: Tables

    /// They count, repeat or choose frames, or bring a stream of their own that begins with the segment.
    private static let always: Set<String> = [
        "select", "framestep", "shuffleframes", "random", "telecine", "detelecine", "tinterlace", "decimate",
        "thumbnail",
        "loop", "trim", "tpad", "zoompan", "reverse", "tile", "untile", "freezeframes", "movie", "color", "testsrc",
        "testsrc2", "smptebars", "smptehdbars", "gradients", "life", "cellauto", "mandelbrot", "mptestsrc",
        "rgbtestsrc",
        "yuvtestsrc", "nullsrc", "concat", "xfade", "vidstabtransform", "vidstabdetect",
    ]
    /// Options that give a number of frames.
    private static let countingKeys: Set<String> = ["start_frame", "end_frame", "nb_frames", "start_number"]
    /// Variables of libavfilter's expressions and of drawtext that depend on the frames before.
    private static let countingNames: Set<String> = [
        "n", "N", "frame_num", "STARTPTS", "STARTT", "PREV_INPTS", "PREV_INT", "PREV_OUTPTS", "PREV_OUTT", "RTCTIME",
        "RTCSTART",
    ]

    // MARK: Words

    private struct Word {
        var text: String
        /// An option's name, and no part of its value.
        var isKey: Bool
    }

    /// The identifiers among the arguments.
    private static func words(of arguments: String) -> [Word] {
        var words: [Word] = []
        var current = ""
        var isFirst = true
        for character in arguments + " " {
            if character.isASCII, character.isLetter || character.isNumber || character == "_" {
                current.append(character)
                continue
            }
            if let first = current.first, !first.isNumber {
                words.append(Word(text: current, isKey: isFirst && character == "="))
            }
            if !current.isEmpty || !character.isWhitespace { isFirst = character == ":" }
            current = ""
        }
        return words
    }

    /// `alls=20:allf=t+u`: noise that changes with every frame goes on from a state of its own.
    private static func isTemporalNoise(_ arguments: String) -> Bool {
        arguments.split(separator: ":").contains { argument in
            let halves = argument.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[0].hasSuffix("f") || halves[0].hasSuffix("flags") else { return false }
            return halves[1].split(separator: "+").contains { ["t", "a"].contains($0.filter(\.isLetter)) }
        }
    }
}
