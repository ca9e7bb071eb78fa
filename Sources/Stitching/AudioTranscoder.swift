internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// Decodes a sound track and encodes it once over its whole length.
///
/// The place of every sample is counted, not measured: a source that rounds its times would otherwise let the sound jitter and
/// drift. Where the source's time leaves the count by more than its rounding explains, a gap is filled with silence of the same
/// length and an overlap is cut, so that the number of samples and the time never part.
final class AudioTranscoder {
    let format: FormatDescription
    let timeBase: TimeBase
    private let decoder: DecompressionSession
    private let encoder: CompressionSession
    private let output: AudioFormat
    private let start: MediaTime?
    private let end: MediaTime?
    private var graph: FilterGraph?
    private var input: AudioFormat?
    /// In samples of the input: where the next one belongs on the source's time line.
    private var position: Int64?
    /// In samples of the output, on the source's time line: the end of what the encoder was given.
    private var encodedEnd: Int64?
    private var origin: Int64 = 0
    private var losses = SoundLosses()

    init(
        track: Track, encoding: CarriedTrack.AudioEncoding, start: MediaTime?, end: MediaTime?
    ) throws(Failure) {
        do throws(MediaError) {
            decoder = try DecompressionSession(format: track.format, timeBase: track.timeBase)
            (encoder, output) = try Self.makeEncoder(encoding, for: track)
        } catch {
            throw Failure(error, role: .encode)
        }
        format = encoder.format
        timeBase = output.timeBase
        (self.start, self.end) = (start, end)
    }

    // MARK: Set-up

    private static func makeEncoder(
        _ encoding: CarriedTrack.AudioEncoding, for track: Track
    ) throws(MediaError) -> (CompressionSession, AudioFormat) {
        guard let info = EncoderCatalog.encoder(named: encoding.encoder) else {
            throw MediaError(.encoder, .unsupported, "This FFmpeg has no encoder “\(encoding.encoder)”.")
        }
        var firstError: MediaError?
        for layout in layouts(track.format) {
            guard
                let format = AudioFormat(
                    sampleRate: sampleRate(info, nearest: track.format.sampleRate),
                    sampleFormat: info.sampleFormats.first ?? "fltp", channelLayout: layout)
            else { continue }
            var settings = CompressionSettings(encoder: encoding.encoder, audio: format)
            settings.bitrate = encoding.bitrate
            settings.globalHeader = encoding.globalHeader
            do {
                return (try CompressionSession(settings: settings), format)
            } catch {
                firstError = firstError ?? error
            }
        }
        throw firstError
            ?? MediaError(
                .encoder, .unsupported,
                "Track \(track.index) (\(track.format.codecName)) suits no input of \(encoding.encoder).")
    }

    /// The source's own layout, then the usual arrangement of as many loudspeakers: `5.1(side)` is `5.1` to encoders that know
    /// only one.
    private static func layouts(_ format: FormatDescription) -> [String] {
        guard let layout = format.channelLayout else { return [] }
        let usual = String(layout.prefix { $0 != "(" })
        return usual == layout ? [layout] : [layout, usual]
    }

    /// The rate that changes the sound least. Opus works at 48 kHz whatever it is given (RFC 6716 §2).
    private static func sampleRate(_ encoder: EncoderCatalog.Encoder, nearest rate: Int) -> Int {
        let rates = encoder.sampleRates
        guard !rates.isEmpty, !rates.contains(rate) else { return rate }
        if encoder.codecName == "opus" { return rates.max() ?? rate }
        return rates.filter { $0 > rate }.min() ?? rates.max() ?? rate
    }

    // MARK: Running

    /// - Parameter origin: what becomes time zero, in the source track's ticks.
    func encode(_ sample: Sample, origin: Int64, output: (Sample) -> Void) throws(Failure) {
        self.origin = origin
        do {
            try decoder.decode(sample) { (frame) throws(MediaError) in try place(frame, output) }
        } catch {
            // A damaged packet is a gap, and gaps are filled; the rest of the track is not lost for it.
            guard error.reason == .invalidData || (error.boundary == .decoder && position != nil) else {
                throw Failure(error, role: .encode)
            }
            losses.failed(sample)
        }
    }

    func finish(output: (Sample) -> Void) throws(Failure) {
        do {
            try decoder.finish { (frame) throws(MediaError) in try place(frame, output) }
            try drain(output)
            try encoder.finish { output(Self.withoutPadding($0, end: rebased(encodedEnd), of: encoder)) }
        } catch {
            throw Failure(error, role: .encode)
        }
    }

    /// What was silenced because of damage, on the output's time line.
    func damage(of track: Track) -> [JobReport.Damage] {
        guard let zero = try? MediaTime(ticks: origin, in: decoder.timeBase) else { return [] }
        return losses.ranges(of: track.index, zero: zero)
    }

    // MARK: Placing

    /// Times that sound can have: far enough from the ends of 64 bits that no sum or difference of two leaves them.
    private static let times: ClosedRange<Int64> = -(1 << 60)...(1 << 60)

    /// Puts a decoded frame where it belongs: behind a gap, or without what was there already, and inside the exported range.
    private func place(_ frame: Frame, _ output: (Sample) -> Void) throws(MediaError) {
        guard var format = frame.audioFormat, let pts = frame.pts,
            let unit = Int32(exactly: format.sampleRate).flatMap({ TimeBase(numerator: 1, denominator: $0) }),
            let told = try? frame.timeBase.rescale(pts, to: unit), Self.times.contains(told)
        else { return }
        format.timeBase = unit
        if input != format {
            try drain(output)
            (input, position) = (format, nil)
            graph = try FilterGraph(input: format, output: self.output, frameSize: encoder.frameSize)
        }
        let first = start.flatMap { try? $0.ticks(in: unit) } ?? .min
        let limit = end.flatMap { try? $0.ticks(in: unit) } ?? .max
        var time = told
        if let position, abs(told - position) <= tolerance(frame.timeBase, unit) { time = position }
        let begin = max(time, first, position ?? .min)
        let stop = min(time + Int64(frame.sampleCount), limit)
        guard begin < stop else { return }
        if let position, begin > position {
            losses.filled(from: position, to: begin, unit)
            try fill(from: position, to: begin, format, output)
        }
        position = stop
        let part = try frame.sound(Int(begin - time)..<Int(stop - time))
        try feed(part.retimed(pts: begin, duration: stop - begin, timeBase: unit), output)
    }

    /// Two source ticks, at least 1 ms, at most 40 ms, in samples.
    private func tolerance(_ source: TimeBase, _ unit: TimeBase) -> Int64 {
        let rate = Int64(unit.denominator)
        return min(max((try? source.rescale(2, to: unit)) ?? 0, rate / 1000), rate / 25)
    }

    private func fill(
        from start: Int64, to end: Int64, _ format: AudioFormat, _ output: (Sample) -> Void
    ) throws(MediaError) {
        var time = start
        while time < end {
            let count = min(end - time, Int64(format.sampleRate))
            try feed(Frame(sound: format, sampleCount: Int(count), pts: time), output)
            time += count
        }
    }

    // MARK: Encoding

    private func feed(_ frame: Frame, _ output: (Sample) -> Void) throws(MediaError) {
        try graph?.process(frame) { (filtered) throws(MediaError) in try encode(filtered, output) }
    }

    private func drain(_ output: (Sample) -> Void) throws(MediaError) {
        try graph?.finish { (filtered) throws(MediaError) in try encode(filtered, output) }
        graph = nil
    }

    private func encode(_ frame: Frame, _ output: (Sample) -> Void) throws(MediaError) {
        guard let pts = frame.pts, let told = try? frame.timeBase.rescale(pts, to: timeBase) else {
            throw MediaError(.timing, .invalidData, "A sound frame has no time.")
        }
        let time = encodedEnd ?? told
        guard Self.times.contains(time) else {
            throw MediaError(.timing, .invalidData, "A time of the sound is out of range.")
        }
        encodedEnd = time + Int64(frame.sampleCount)
        guard let rebased = rebased(time) else {
            throw MediaError(.timing, .invalidData, "A time of the sound is out of range.")
        }
        try encoder.encode(
            frame.retimed(pts: rebased, duration: Int64(frame.sampleCount), timeBase: timeBase)
        ) { output($0) }
    }

    private func rebased(_ time: Int64?) -> Int64? {
        guard let time, let base = try? decoder.timeBase.rescale(origin, to: timeBase) else { return nil }
        return time &- base
    }

    /// Encoders fill their last frame up; what is beyond the end is marked as not to be heard.
    private static func withoutPadding(_ sample: Sample, end: Int64?, of encoder: CompressionSession) -> Sample {
        guard encoder.format.codecName != "flac", let end, let pts = sample.pts,
            !sample.attachments.contains(where: { $0.kind == .skipSamples })
        else { return sample }
        let length = Int64(encoder.frameSize)
        let excess = pts &+ length &- end
        guard excess > 0, excess < length else { return sample }
        let trimmed = sample.retimed(
            pts: pts, dts: sample.dts, duration: length - excess, timeBase: sample.timeBase)
        return (try? trimmed.adding([.skippingSamples(start: 0, end: UInt32(excess))])) ?? trimmed
    }
}
