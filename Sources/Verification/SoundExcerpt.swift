internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// A few seconds of a track's sound as it is heard: decoded, at a low rate, each sample at its own time.
struct SoundExcerpt {
    /// Samples a second.
    static let rate = 8000
    static let seconds = 12.0
    static let limit = Int(seconds) * rate

    /// From the track's first sound in the window on; holes are silence. One array a channel.
    private(set) var channels: [[Float]] = []
    /// Presentation time of the first sample in seconds.
    private(set) var start: Double = 0

    var samples: [Float] { channels.first ?? [] }

    /// Puts the pieces that lie in a window on one time line.
    ///
    /// - Returns: `nil` where there is too little.
    fileprivate init?(_ pieces: [SoundPieces.Piece]) {
        guard let first = pieces.first, !first.channels.isEmpty else { return nil }
        start = first.time
        channels = Array(repeating: [Float](repeating: 0, count: Self.limit), count: first.channels.count)
        var end = 0
        for piece in pieces where piece.channels.count == channels.count {
            let told = Int(((piece.time - start) * Double(Self.rate)).rounded())
            // Times that were rounded to milliseconds would scatter the pieces: what follows, follows.
            let offset = abs(told - end) <= Self.rate / 400 ? end : told
            for (channel, values) in piece.channels.enumerated() {
                for (index, value) in values.enumerated() where offset + index >= 0 && offset + index < Self.limit {
                    channels[channel][offset + index] = value
                    end = max(end, offset + index + 1)
                }
            }
        }
        guard end > Self.rate / 2 else { return nil }
        for channel in channels.indices { channels[channel].removeLast(Self.limit - end) }
    }
}

/// Decodes a track of sound once and keeps what lies in a few windows.
struct SoundPieces {
    struct Piece {
        var time: Double
        var channels: [[Float]]
    }

    /// Where a window begins in seconds of the file; `nil` at the first sound.
    private let windows: [Double?]
    private let keepsChannels: Bool
    private var found: [[Piece]]

    /// - Parameter keepsChannels: else all are mixed to one.
    static func excerpts(
        _ location: String, track: Int, at windows: [Double?], keepsChannels: Bool, interrupt: InterruptFlag
    ) -> [SoundExcerpt?] {
        var pieces = SoundPieces(
            windows: windows, keepsChannels: keepsChannels, found: Array(repeating: [], count: windows.count))
        // What breaks in the middle leaves what was decoded before.
        try? pieces.read(location, track, interrupt)
        return pieces.found.map { SoundExcerpt($0) }
    }

    private mutating func keep(_ piece: Piece) {
        for (index, window) in windows.enumerated() {
            let start = window ?? found[index].first?.time ?? piece.time
            let length = Double(piece.channels.first?.count ?? 0) / Double(SoundExcerpt.rate)
            if piece.time + length > start, piece.time < start + SoundExcerpt.seconds { found[index].append(piece) }
        }
    }

    /// No window wants what comes after this time.
    private func isDone(at time: Double) -> Bool {
        zip(windows, found).allSatisfy { window, pieces in
            guard let start = window ?? pieces.first?.time else { return false }
            return time > start + SoundExcerpt.seconds
        }
    }

    private mutating func read(_ location: String, _ index: Int, _ interrupt: InterruptFlag) throws(MediaError) {
        let demuxer = try Demuxer(location: location, interrupt: interrupt)
        guard demuxer.tracks.indices.contains(index) else { return }
        let reader = ProgramReader(demuxer, tracks: [index])
        let track = demuxer.tracks[index]
        let decoder = try DecompressionSession(format: track.format, timeBase: track.timeBase)
        var graph: FilterGraph?
        var last = -Double.infinity
        var pieces: [Piece] = []
        func take(_ frame: Frame) {
            guard let pts = frame.pts, frame.sampleCount > 0, let format = frame.audioFormat else { return }
            let time = Double(pts) * Double(frame.timeBase.numerator) / Double(frame.timeBase.denominator)
            var channels: [[Float]] = []
            while let values = frame.withSamples(
                channel: channels.count, { Array($0.bindMemory(to: Float.self)) }), format.sampleFormat == "fltp"
            {
                channels.append(values)
            }
            last = max(last, time)
            pieces.append(Piece(time: time, channels: channels))
        }
        func convert(_ frame: Frame) throws(MediaError) {
            guard let format = frame.audioFormat, frame.pts != nil else { return }
            if graph.map({ !$0.accepts(frame) }) ?? true {
                let layout = keepsChannels ? format.channelLayout : "mono"
                guard
                    let output = AudioFormat(
                        sampleRate: SoundExcerpt.rate, sampleFormat: "fltp", channelLayout: layout)
                else { return }
                graph = try FilterGraph(input: format, output: output)
            }
            try graph?.process(frame, output: take)
        }
        while !isDone(at: last), let item = try reader.next() {
            do {
                try decoder.decode(item.sample, output: convert)
            } catch {
                guard error.reason == .invalidData else { throw error }
            }
            for piece in pieces { keep(piece) }
            pieces.removeAll(keepingCapacity: true)
        }
    }
}

/// Finds by how much one excerpt is heard later than another, from the sound itself.
enum SoundCorrelation {
    /// Lags tried, either way, in samples.
    private static let reach = SoundExcerpt.rate / 5

    /// - Parameter shift: output time minus source time of the common time line, seconds.
    /// - Returns: seconds by which the output's sound is late; `nil` where the sound does not tell (silence, a steady tone).
    static func lag(_ source: SoundExcerpt, _ output: SoundExcerpt, shift: Double) -> Double? {
        // Sample 0 of the source's excerpt lies at this place of the output's, if both are in step.
        let place = (source.start + shift - output.start) * Double(SoundExcerpt.rate)
        let base = Int(place.rounded())
        guard let window = loudest(source.samples, base: base, other: output.samples.count) else { return nil }
        var best: (lag: Int, value: Double)?
        var second = 0.0
        let norm = energy(source.samples, window)
        var values: [Double] = []
        for lag in -reach...reach {
            let other = window.lowerBound + base + lag..<window.upperBound + base + lag
            let scale = (norm * energy(output.samples, other)).squareRoot()
            let value = scale > 0 ? product(source.samples, window, output.samples, other.lowerBound) / scale : 0
            values.append(value)
            if best.map({ value > $0.value }) ?? true { best = (lag, value) }
        }
        guard let best, best.value > 0.6 else { return nil }
        // A tone is like itself at every period: only a peak that stands alone tells.
        for (index, value) in values.enumerated() where abs(index - reach - best.lag) > SoundExcerpt.rate / 250 {
            second = max(second, value)
        }
        guard second < best.value * 0.9 else { return nil }
        return (Double(base + best.lag) - place) / Double(SoundExcerpt.rate)
    }

    /// Channels of the source that are heard in another channel of the output: which, and in which.
    ///
    /// - Parameters:
    ///   - lag: by how much the output is late, seconds.
    static func exchanged(
        _ source: SoundExcerpt, _ output: SoundExcerpt, shift: Double, lag: Double
    ) -> [(Int, Int)] {
        guard source.channels.count == output.channels.count, source.channels.count > 1 else { return [] }
        let base = Int(((source.start + shift + lag - output.start) * Double(SoundExcerpt.rate)).rounded())
        return source.channels.indices.compactMap { channel in
            guard let window = loudest(source.channels[channel], base: base, other: output.samples.count) else {
                return nil
            }
            let norm = energy(source.channels[channel], window)
            let likeness = output.channels.map { other in
                let place = window.lowerBound + base..<window.upperBound + base
                let scale = (norm * energy(other, place)).squareRoot()
                return scale > 0
                    ? product(source.channels[channel], window, other, window.lowerBound + base) / scale : 0
            }
            guard let best = likeness.indices.max(by: { likeness[$0] < likeness[$1] }), best != channel,
                likeness[best] > 0.6, likeness[best] > likeness[channel] + 0.15
            else { return nil }
            return (channel, best)
        }
    }

    /// The second (or less) of the source with the most energy, among those whose every lag lies inside the output.
    private static func loudest(_ samples: [Float], base: Int, other: Int) -> Range<Int>? {
        let low = max(0, reach - base)
        let limit = min(samples.count, other - base - reach)
        // Of a short clip what there is; less than that is like too much.
        let length = min(SoundExcerpt.rate, limit - low)
        guard length >= SoundExcerpt.rate / 4 else { return nil }
        let high = limit - length
        var best: (Range<Int>, Double)?
        for start in stride(from: low, through: high, by: length / 4) {
            let range = start..<start + length
            let value = energy(samples, range)
            if best.map({ value > $0.1 }) ?? true { best = (range, value) }
        }
        // −60 dB full scale.
        guard let best, best.1 > Double(length) * 1e-6 else { return nil }
        return best.0
    }

    private static func energy(_ samples: [Float], _ range: Range<Int>) -> Double {
        product(samples, range, samples, range.lowerBound)
    }

    private static func product(_ left: [Float], _ range: Range<Int>, _ right: [Float], _ start: Int) -> Double {
        left.withUnsafeBufferPointer { left in
            right.withUnsafeBufferPointer { right in
                var sum: Float = 0
                for index in 0..<range.count { sum += left[range.lowerBound &+ index] * right[start &+ index] }
                return Double(sum)
            }
        }
    }
}
