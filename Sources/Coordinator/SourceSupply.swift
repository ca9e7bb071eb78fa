internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess
internal import Stitching

/// Segments that are copied, not encoded, read from the source when the stitch asks for them.
///
/// There is nothing to compute and nothing that could be lost by starting again, so no slot and no spool take part. Used from the
/// stitch's thread.
final class SourceSupply: SegmentSupply, @unchecked Sendable {
    private let session: SourceSession
    private let segments: [Segment]
    /// Presentation times of each delivered segment, sorted, for the proof.
    private(set) var times: [[Int64]]

    init(_ plan: PlannedExport, interrupt: InterruptFlag) throws(Failure) {
        session = try SourceSession(plan.source, interrupt: interrupt)
        segments = plan.segments
        times = Array(repeating: [], count: plan.segments.count)
    }

    func segment(_ index: Int) throws(Failure) -> any SegmentContent {
        let segment = segments[index]
        try session.begin(segment)
        var samples: [Sample] = []
        while let sample = try session.next() {
            let pts = sample.pts ?? sample.dts ?? segment.start
            if !sample.isDiscarded, pts < segment.end { samples.append(sample) }
        }
        let content = CopiedSegment(samples, format: session.track.format, start: segment.start)
        times[index] = content.presentationTimes.sorted()
        return content
    }
}

/// A run of the source's own samples.
private final class CopiedSegment: SegmentContent {
    let format: FormatDescription
    let presentationTimes: [Int64]
    private let samples: [Sample]

    init(_ samples: [Sample], format: FormatDescription, start: Int64) {
        self.samples = samples
        self.format = format
        presentationTimes = samples.map { $0.pts ?? $0.dts ?? start }
    }

    var count: Int { samples.count }

    func sample(
        _ number: Int, pts: Int64, dts: Int64, duration: Int64, timeBase: TimeBase
    ) throws(Failure) -> Sample {
        samples[number].retimed(pts: pts, dts: dts, duration: duration, timeBase: timeBase)
    }
}
