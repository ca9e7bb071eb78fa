internal import ClusterProtocol
internal import Media
internal import SegmentPlan
internal import SourceAccess

/// Decodes a segment once more where pictures of it are missing: what a slot says of damage excuses nothing, what this sees does.
///
/// Used from one thread.
final class DamageWitness {
    private let reference: SourceReference
    private let interrupt: InterruptFlag
    private var session: SourceSession?

    init(_ reference: SourceReference, interrupt: InterruptFlag) {
        self.reference = reference
        self.interrupt = interrupt
    }

    func examine(_ segment: Segment) throws(Failure) -> SampleTable.Damage {
        let source: SourceSession
        if let session { source = session } else { source = try SourceSession(reference, interrupt: interrupt) }
        session = source
        try source.begin(segment)
        let decoder = try SegmentDecoder(segment, format: source.track.format, timeBase: source.track.timeBase)
        var isAtEnd = false
        while !isAtEnd {
            let pictures = try decoder.next { () throws(Failure) in
                if interrupt.isInterrupted { throw Failure.interrupted }
                return try source.next()
            } enter: { (segment) throws(Failure) in
                try source.begin(segment)
                return true
            }
            isAtEnd = pictures == nil
        }
        return SampleTable.Damage(decoder.ledger)
    }
}
