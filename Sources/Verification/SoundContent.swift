internal import Media
internal import MediaTime

/// What the decoded sound of two tracks tells of where it is heard: at a few places, by likeness, and channel by channel.
struct SoundContent {
    /// Seconds of the output, and by how many seconds the output is late there.
    private(set) var offsets: [(at: Double, offset: Double)] = []
    /// Channels that have changed places, of source and output, from 0.
    private(set) var exchanged: [(Int, Int)] = []

    /// - Parameters:
    ///   - shift: output time minus source time, seconds.
    ///   - places: how many, from the beginning to the end; with more than one the channels are compared too.
    init(_ verifier: Verifier, _ source: TrackScan, _ output: TrackScan, shift: Double, places: Int) {
        let unit = Double(source.track.timeBase.numerator) / Double(source.track.timeBase.denominator)
        let first = verifier.range.start == nil ? nil : source.sound.first.map { Double($0) * unit }
        var windows: [Double?] = [first]
        if places > 1, let start = source.sound.first.map({ Double($0) * unit }), let end = source.end {
            let length = Double(end) * unit - start - SoundExcerpt.seconds
            if length > 1 { windows += (1..<places).map { start + length * Double($0) / Double(places - 1) } }
        }
        func read(_ location: String, _ scan: TrackScan, _ windows: [Double?], channels: Bool) -> [SoundExcerpt?] {
            SoundPieces.excerpts(
                location, track: scan.track.index, at: windows, keepsChannels: channels,
                interrupt: verifier.interrupt)
        }
        let shifted = windows.map { $0.map { $0 + shift } }
        let left = read(verifier.sourceLocation, source, windows, channels: false)
        let right = read(verifier.outputLocation, output, shifted, channels: false)
        for case (let one?, let other?) in zip(left, right) {
            guard let lag = SoundCorrelation.lag(one, other, shift: shift) else { continue }
            offsets.append((one.start + shift, lag))
        }
        guard places > 1, source.track.format.channelLayout == output.track.format.channelLayout,
            case .some(.some(let one)) = read(verifier.sourceLocation, source, [first], channels: true).first,
            case .some(.some(let other)) = read(verifier.outputLocation, output, [shifted[0]], channels: true).first
        else { return }
        exchanged = SoundCorrelation.exchanged(one, other, shift: shift, lag: offsets.first?.offset ?? 0)
    }
}
