internal import ClusterProtocol
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess

/// Where the range of a copied picture may begin and end.
///
/// Samples that are copied keep their references, so a range can be cut only where all that is decoded before is also shown
/// before: at a keyframe that no leading pictures follow. Anything else would leave out what kept pictures refer to.
struct CopyRange {
    private let index: KeyframeIndex
    /// A time this near to a picture's means the picture: nobody types ticks.
    private let tolerance: Int64

    /// - Parameter frameRate: pictures a second.
    init(_ index: KeyframeIndex, frameRate: Double?) {
        self.index = index
        let ticks = Double(index.timeBase.denominator) / Double(index.timeBase.numerator) / max(1, frameRate ?? 25) / 2
        tolerance = Int64(max(0, min(1e15, ticks.rounded(.down))))
    }

    /// Where the picture can be cut, rising.
    private var cuts: [Int64] {
        index.keyframes.filter(\.isCleanCut).map(\.pts).filter { $0 > index.start }.sorted()
    }

    /// - Returns: the cut that the time stands for.
    /// - Throws: exit code 64 for a time inside a group, naming the places to either side.
    func cut(_ time: Int64, option: String) throws(Failure) -> Int64 {
        guard time > index.start, time < index.end else { return time }
        let places = [index.start] + cuts + [index.end]
        let before = places.last { $0 <= time }
        let after = places.first { $0 >= time }
        for place in [before, after].compactMap(\.self) where abs(place &- time) <= tolerance { return place }
        let names = [before, after].compactMap(\.self).map(text).joined(separator: " and ")
        throw Failure(
            .timing,
            "\(option) \(text(time)) lies inside a group of pictures; a picture that is copied can be cut only between "
                + "groups.",
            advice: "The nearest places are \(names) (in seconds). An encoded picture can be cut anywhere: leave out "
                + "--video-codec copy.",
            fault: .settings, exitCode: .usage)
    }

    /// As it can be typed: decimal seconds where they mean the same tick, else a fraction.
    private func text(_ time: Int64) -> String {
        let ticks = Int128(time) - Int128(index.start)
        let (numerator, denominator) = (Int128(index.timeBase.numerator), Int128(index.timeBase.denominator))
        let micros = (ticks * numerator * 1_000_000 * 2 + denominator) / (2 * denominator)
        let back = (micros * denominator * 2 + numerator * 1_000_000) / (2 * numerator * 1_000_000)
        guard back == ticks else { return "\(ticks * numerator)/\(denominator)" }
        let (whole, rest) = micros.quotientAndRemainder(dividingBy: 1_000_000)
        guard rest != 0 else { return "\(whole)" }
        var digits = String(String(Int(rest) + 1_000_000).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}
