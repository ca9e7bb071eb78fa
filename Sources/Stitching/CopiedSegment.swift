internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// A run of the source's own samples, for a picture that is copied. There is nothing to compute and nothing that could be lost by
/// starting again, so no slot and no spool take part.
final class CopiedSegment: SegmentContent {
    let format: FormatDescription
    let presentationTimes: [Int64]
    /// Without the samples that are only referred to (`SampleVisibility`): they are written, but are no frames.
    let shownTimes: [Int64]
    let damage = SampleTable.Damage()
    private let samples: [Sample]

    struct Picture {
        var sample: Sample
        var isShown: Bool
    }

    /// - Parameter pictures: in decode order, each with a presentation time.
    init(_ pictures: [Picture], format: FormatDescription) {
        samples = pictures.map(\.sample)
        self.format = format
        presentationTimes = samples.compactMap(\.pts)
        shownTimes = pictures.filter(\.isShown).compactMap(\.sample.pts)
    }

    var count: Int { samples.count }

    func sample(
        _ number: Int, pts: Int64, dts: Int64, duration: Int64, timeBase: TimeBase
    ) throws(Failure) -> Sample {
        samples[number].retimed(pts: pts, dts: dts, duration: duration, timeBase: timeBase)
    }
}
