internal import ClusterProtocol
internal import Media
internal import MediaTime

/// A run of the source's own samples, for a picture that is copied. There is nothing to compute and nothing that could be lost by
/// starting again, so no slot and no spool take part.
final class CopiedSegment: SegmentContent {
    let format: FormatDescription
    let presentationTimes: [Int64]
    let unshownTimes: [Int64] = []
    private let samples: [Sample]

    /// - Parameter samples: in decode order, each with a presentation time.
    init(_ samples: [Sample], format: FormatDescription) {
        self.samples = samples
        self.format = format
        presentationTimes = samples.compactMap(\.pts)
    }

    var count: Int { samples.count }

    func sample(
        _ number: Int, pts: Int64, dts: Int64, duration: Int64, timeBase: TimeBase
    ) throws(Failure) -> Sample {
        samples[number].retimed(pts: pts, dts: dts, duration: duration, timeBase: timeBase)
    }
}
