package import Media
package import MediaTime
package import SegmentPlan
package import ClusterProtocol

/// Where the samples of segments come from: a file or URL that this process reads, or somebody who reads it for us.
package protocol SegmentSource: AnyObject {
    /// What is known before the first sample.
    var picture: SourcePicture { get }

    /// Positions the source at the segment's entry sample.
    ///
    /// - Parameter goesOn: samples beyond the segment are delivered too, until the caller has enough.
    /// - Parameter skipped: called with the size of each sample that is passed over on the way.
    func begin(_ segment: Segment, goesOn: Bool, skipped: @escaping (Int) -> Void) throws(Failure)

    /// The segment's next sample in decode order; `nil` after the last.
    func next() throws(Failure) -> Sample?
}

/// A picture track as a pipeline has to know it before the first sample.
package struct SourcePicture: Sendable {
    package var format: FormatDescription
    /// Unit of the samples' times.
    package var timeBase: TimeBase
    package var frameRate: Rational?
    /// Width of a pixel over its height. The container's word goes before the codec's.
    package var sampleAspectRatio: Rational?

    package init(_ track: Track) {
        format = track.format
        timeBase = track.timeBase
        frameRate = track.averageFrameRate ?? track.realFrameRate
        sampleAspectRatio = track.sampleAspectRatio
    }

    /// As a coordinator described it.
    package init(_ track: SourceChunk.Track, format: FormatDescription) {
        self.format = format
        timeBase = track.timeBase
        frameRate = track.frameRate.flatMap { Rational($0.numerator, $0.denominator) }
        sampleAspectRatio = track.aspect.flatMap { Rational($0.numerator, $0.denominator) }
    }

    /// For a slot that reads the source through us.
    package var described: SourceChunk.Track {
        func ratio(_ value: Rational?) -> SourceChunk.Ratio? {
            guard let value, value.numerator > 0 else { return nil }
            return SourceChunk.Ratio(numerator: value.numerator, denominator: value.denominator)
        }
        return SourceChunk.Track(timeBase: timeBase, frameRate: ratio(frameRate), aspect: ratio(sampleAspectRatio))
    }

    /// `nil` where nothing tells the pixel format.
    var frameFormat: FrameFormat? {
        format.frameFormat(timeBase: timeBase, frameRate: frameRate, sampleAspectRatio: sampleAspectRatio)
    }
}
