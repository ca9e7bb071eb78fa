internal import ClusterProtocol
internal import Media
internal import SegmentPlan
internal import SourceAccess

/// Decodes a segment once more where pictures of it are missing: what a slot says of damage excuses nothing, what this sees does.
///
/// It looks twice. As the slot did, which tells what was bad and what was made up; and in a plain pass that enters no later than the
/// segment before, which tells what no decoder gives. Only what both lack is damage of the source.
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
        let ledger = try ledger(of: segment, source)
        var damage = SampleTable.Damage(ledger)
        guard ledger.isLacking else { return damage }
        damage.dropped = ledger.losses(confirmedBy: try plainPass(over: segment, source)).map {
            SampleTable.Damage.Loss(time: $0.time, cause: $0.cause)
        }
        return damage
    }

    private func ledger(of segment: Segment, _ source: SourceSession) throws(Failure) -> PictureLedger {
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
        return decoder.ledger
    }

    private func plainPass(over segment: Segment, _ source: SourceSession) throws(Failure) -> PlainPass {
        // A decoder that enters at a bad sample lacks what one that comes from further back has.
        var last: PlainPass?
        for entry in segment.earlierEntries {
            let pass = try plainPass(over: segment, from: entry, source)
            if pass.isEntryRight { return pass }
            last = pass
        }
        if let last { return last }
        return try plainPass(over: segment, from: segment.entry, source)
    }

    private func plainPass(
        over segment: Segment, from entry: Keyframe, _ source: SourceSession
    ) throws(Failure) -> PlainPass {
        var whole = segment
        whole.entry = entry
        try source.begin(whole)
        var pass: PlainPass
        do {
            pass = try PlainPass(format: source.track.format, timeBase: source.track.timeBase)
        } catch {
            throw Failure(error, role: .source)
        }
        while let sample = try source.next() {
            if interrupt.isInterrupted { throw Failure.interrupted }
            pass.add(sample)
        }
        pass.finish()
        return pass
    }
}
