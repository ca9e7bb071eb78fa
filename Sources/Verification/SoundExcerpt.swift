internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// A few seconds of a track's sound as it is heard: decoded, mixed to one channel at a low rate, each sample at its own time.
struct SoundExcerpt {
    /// Samples a second.
    static let rate = 8000
    static let seconds = 12

    /// From the track's first sound on; holes are silence.
    private(set) var samples: [Float] = []
    /// Presentation time of `samples[0]` in seconds.
    private(set) var start: Double = 0

    /// - Returns: `nil` where the sound cannot be decoded.
    init?(_ location: String, track index: Int, interrupt: InterruptFlag) {
        do throws(MediaError) {
            try read(location, index, interrupt)
        } catch {
            return nil
        }
        guard samples.count > Self.rate / 2 else { return nil }
    }

    private mutating func read(_ location: String, _ index: Int, _ interrupt: InterruptFlag) throws(MediaError) {
        let demuxer = try Demuxer(location: location, interrupt: interrupt)
        guard demuxer.tracks.indices.contains(index) else { return }
        let reader = ProgramReader(demuxer, tracks: [index])
        let track = demuxer.tracks[index]
        let decoder = try DecompressionSession(format: track.format, timeBase: track.timeBase)
        var graph: FilterGraph?
        var pieces: [(time: Double, samples: [Float])] = []
        var count = 0
        let limit = Self.rate * Self.seconds
        func keep(_ frame: Frame) {
            guard let pts = frame.pts, frame.sampleCount > 0 else { return }
            let time = Double(pts) * Double(frame.timeBase.numerator) / Double(frame.timeBase.denominator)
            let values = frame.withSamples(channel: 0) { Array($0.bindMemory(to: Float.self)) } ?? []
            pieces.append((time, values))
            count += values.count
        }
        func convert(_ frame: Frame) throws(MediaError) {
            guard let format = frame.audioFormat, frame.pts != nil else { return }
            if graph.map({ !$0.accepts(frame) }) ?? true {
                guard let output = AudioFormat(sampleRate: Self.rate, sampleFormat: "flt", channelLayout: "mono") else {
                    return
                }
                graph = try FilterGraph(input: format, output: output)
            }
            try graph?.process(frame, output: keep)
        }
        while count < limit, let item = try reader.next() {
            do {
                try decoder.decode(item.sample, output: convert)
            } catch {
                guard error.reason == .invalidData else { throw error }
            }
        }
        lay(pieces)
    }

    /// Puts the pieces on one time line.
    private mutating func lay(_ pieces: [(time: Double, samples: [Float])]) {
        guard let first = pieces.first else { return }
        start = first.time
        let limit = Self.rate * Self.seconds
        samples = [Float](repeating: 0, count: limit)
        var end = 0
        for piece in pieces {
            let offset = Int(((piece.time - start) * Double(Self.rate)).rounded())
            for (index, value) in piece.samples.enumerated() where samples.indices.contains(offset + index) {
                samples[offset + index] = value
                end = max(end, offset + index + 1)
            }
        }
        samples.removeLast(limit - end)
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

    /// The second of the source with the most energy, among those whose every lag lies inside the output.
    private static func loudest(_ samples: [Float], base: Int, other: Int) -> Range<Int>? {
        let length = SoundExcerpt.rate
        let low = max(0, reach - base)
        let high = min(samples.count, other - base - reach) - length
        guard low <= high else { return nil }
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
