package import ClusterProtocol
package import Media
package import SegmentPlan
internal import SourceAccess

/// Makes segments of one source as a slot makes them, for those who hold a slot's work against it.
///
/// Blocking; used from one thread.
package final class SegmentReplay {
    private let source: SourceSession
    private let interrupt = InterruptFlag()

    package init(_ reference: SourceReference) throws(Failure) {
        source = try SourceSession(reference, interrupt: interrupt)
    }

    private func pipeline(_ recipe: EncodeRecipe, _ segment: Segment) -> SegmentPipeline {
        SegmentPipeline(
            recipe: recipe, segment: segment, source: source, gauge: LeaseGauge(), cancellation: interrupt)
    }

    /// The pictures that the encoder is given, in order.
    /// - Parameter output: `false` ends it.
    package func pictures(
        of segment: Segment, _ recipe: EncodeRecipe, _ output: @escaping (Frame) -> Bool
    ) throws(Failure) {
        try pipeline(recipe, segment).pictures(output)
    }

    /// What the encoder makes of them.
    /// - Parameter output: called on a thread of the encoder's own; what it throws ends it.
    package func encode(
        _ segment: Segment, _ recipe: EncodeRecipe, _ output: @escaping @Sendable (Sample) throws(Failure) -> Void
    ) throws(Failure) -> FormatDescription {
        try pipeline(recipe, segment).run(into: ReplaySink(output)).format
    }

    /// The parameter sets that the encoder announces before the first picture.
    package func announcedFormat(_ recipe: EncodeRecipe) throws(Failure) -> FormatDescription {
        do {
            return try PicturePath(recipe: recipe, picture: source.picture).makeEncoder().format
        } catch {
            throw Failure(error, role: .encode)
        }
    }

    /// What the recipe's encoder makes of the reference frames here.
    package static func fingerprint(of recipe: EncodeRecipe) throws(Failure) -> String {
        try EncoderFingerprint.make(of: recipe)
    }
}

private final class ReplaySink: SampleSink {
    private let output: @Sendable (Sample) throws(Failure) -> Void

    init(_ output: @escaping @Sendable (Sample) throws(Failure) -> Void) { self.output = output }

    func append(_ sample: Sample) throws(Failure) { try output(sample) }
}
