internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// The part of a source that an output seems to hold where nobody said so: the output's first picture is looked for among the
/// source's. A guess, for a sentence of advice; nothing is compared by it.
struct DeducedRange {
    /// Seconds from the source's first picture on.
    let start: Double
    let end: Double
    /// No picture like the first one was needed: it is the source's first.
    private static let likeness = 0.75
    /// Pictures that are decoded for it where nobody asked for every picture: a few minutes of film.
    private static let patience = 5000

    /// - Returns: `nil` where the output is as long as the source, or its first picture is not found.
    init?(_ verifier: Verifier, source: TrackScan, output: TrackScan) throws(Failure) {
        let whole = source.seconds(of: source.extent)
        let part = output.seconds(of: output.extent)
        // Less is a fault at an end, not a choice.
        guard part > 0, part < whole - 0.5, source.times.count > output.times.count, let first = source.times.first
        else {
            return nil
        }
        let films = [(verifier.sourceLocation, source), (verifier.outputLocation, output)]
        let readers = try films.map { location, scan throws(Failure) in
            try PictureReader(location: location, track: scan.track.index, threads: 2, interrupt: verifier.interrupt)
        }
        guard let wanted = try readers[1].next() else { return nil }
        let distance = PictureDistance()
        var best: (time: Double, likeness: PictureComparison.Likeness)?
        var count = 0
        while let picture = try readers[0].next(), verifier.isFull || count < Self.patience {
            count += 1
            guard let pts = picture.pts else { continue }
            let unit = Double(picture.timeBase.numerator) / Double(picture.timeBase.denominator)
            let time = Double(pts) * unit - source.seconds(of: first)
            // The part has to fit behind it.
            guard time + part <= whole + 0.5 else { break }
            let value: PictureComparison.Likeness?
            do {
                value = try distance.likeness(picture, wanted)
            } catch {
                throw Failure(error, role: .source)
            }
            if let value, value.decibels > best?.likeness.decibels ?? 0 { best = (time, value) }
            if value?.decibels ?? 0 >= PictureDistance.equal { break }
        }
        guard let best, best.likeness.similarity >= Self.likeness else { return nil }
        (start, end) = (best.time, min(best.time + part, whole))
    }

    /// One sentence.
    var advice: String {
        func text(_ seconds: Double) -> String { "\((seconds * 1000).rounded() / 1000)" }
        return "The output looks like the part of the source from \(text(start)) s to \(text(end)) s: "
            + "--start \(text(start)) --end \(text(end)) compares it with that part."
    }
}

extension TrackScan {
    /// For text and a coarse comparison.
    func seconds(of ticks: Int64) -> Double {
        Double(ticks) * Double(track.timeBase.numerator) / Double(track.timeBase.denominator)
    }
}
