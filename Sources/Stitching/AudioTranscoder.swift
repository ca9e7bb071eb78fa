internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// Decodes a sound track and encodes it once over its whole length.
///
/// The place of every sample is counted, not measured: a source that rounds its times would otherwise let the sound jitter and
/// drift. Where the source's time leaves the count by more than its rounding explains, a gap is filled with silence of the same
/// length and an overlap is cut, so that the number of samples and the time never part. Where the source's rate or layout changes, it
/// is converted to the first one, and what the conversion rounds is made up for at that place.
///
/// A long gap is filled little by little, as the output is asked for: silence of hours never waits in memory.
final class AudioTranscoder {
    let format: FormatDescription
    let timeBase: TimeBase
    private let decoder: DecompressionSession
    private let encoder: CompressionSession
    private let output: AudioFormat
    private let start: MediaTime?
    private let end: MediaTime?
    /// Makes what is decoded what the encoder takes.
    private var graph: FilterGraph?
    /// Cuts it into frames as long as the encoder wants them, across all changes.
    private var chunks: FilterGraph?
    private var input: AudioFormat?
    /// What comes out of a new graph has not been placed yet.
    private var isRealigning = false
    /// In samples of the input: where the next one belongs on the source's time line.
    private var position: Int64?
    /// In samples of the output, on the source's time line: the end of what the encoder was given.
    private var encodedEnd: Int64?
    /// The same, of what waits to be cut into frames.
    private var joinedEnd: Int64?
    private var origin: Int64 = 0
    private var losses = SoundLosses()
    /// A gap that is being filled, in samples of the input.
    private var gap: Range<Int64>?
    /// What was decoded behind the gap.
    private var waiting: [Frame] = []
    /// Seconds: no gap of a film is longer than the film.
    private let longestGap: Double
    private let index: Int

    /// - Parameter film: how long the picture lasts, in seconds. A longer gap is not believed, and what lies behind it is left out.
    init(
        track: Track, encoding: CarriedTrack.AudioEncoding, start: MediaTime?, end: MediaTime?, film: Double
    ) throws(Failure) {
        index = track.index
        longestGap = min(1e6, max(60, film))
        do throws(MediaError) {
            decoder = try DecompressionSession(format: track.format, timeBase: track.timeBase)
            (encoder, output) = try Self.makeEncoder(encoding, for: track)
            chunks = try FilterGraph(input: output, frameSize: encoder.frameSize)
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

    /// There is silence to be made before more sound can be taken.
    var isFilling: Bool { gap != nil }

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

    /// No more samples come.
    func endDecoding(output: (Sample) -> Void) throws(Failure) {
        do {
            try decoder.finish { (frame) throws(MediaError) in try place(frame, output) }
        } catch {
            throw Failure(error, role: .encode)
        }
    }

    /// Delivers what is left once nothing is to be filled any more.
    func finish(output: (Sample) -> Void) throws(Failure) {
        do {
            try drain(output)
            try chunks?.finish { (frame) throws(MediaError) in try encode(frame, output) }
            chunks = nil
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

    /// What is to be said of the track.
    private(set) var warnings: [String] = []
    /// Packets behind a gap that is not believed.
    private var stray = 0
    var lost: [String] {
        guard stray > 0 else { return [] }
        return [
            "Track \(index): \(stray) frames of sound claim a time more than \(Int(longestGap)) s behind the sound before them, "
                + "longer than the film; they are left out."
        ]
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
        guard gap == nil else { return waiting.append(frame) }
        if input != format { try change(to: format, told, output) }
        let first = start.flatMap { try? $0.ticks(in: unit) } ?? .min
        let limit = end.flatMap { try? $0.ticks(in: unit) } ?? .max
        var time = told
        if let position, abs(told - position) <= tolerance(frame.timeBase, unit) { time = position }
        let begin = max(time, first, position ?? .min)
        let stop = min(time + Int64(frame.sampleCount), limit)
        guard begin < stop else { return }
        if let position, begin > position {
            guard Double(begin - position) <= longestGap * Double(unit.denominator) else {
                stray += 1
                return
            }
            losses.filled(from: position, to: begin, unit)
            gap = position..<begin
            waiting = [frame]
            return try fillOn(output)
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

    /// Sound that goes on with another rate or layout.
    private func change(to format: AudioFormat, _ told: Int64, _ output: (Sample) -> Void) throws(MediaError) {
        try drain(output)
        if let input {
            isRealigning = true
            if warnings.count < 8, (input.sampleRate, input.channelLayout) != (format.sampleRate, format.channelLayout)
            {
                let seconds = Double(told) / Double(format.sampleRate)
                warnings.append(
                    "Track \(index): its sound changes from \(input.sampleRate) Hz \(input.channelLayout) to "
                        + "\(format.sampleRate) Hz \(format.channelLayout) at \((seconds * 1000).rounded() / 1000) s of the source; "
                        + "it is converted to \(self.output.sampleRate) Hz \(self.output.channelLayout) throughout.")
            }
            position = position.flatMap { try? input.timeBase.rescale($0, to: format.timeBase) }
        }
        input = format
        graph = try FilterGraph(input: format, output: self.output)
    }

    /// Fills some of the gap, and goes on with what waits behind it once it is full.
    func fillOn(_ output: (Sample) -> Void) throws(MediaError) {
        guard let gap, let format = input else { return }
        let rate = Int64(format.sampleRate)
        var time = gap.lowerBound
        let end = min(gap.upperBound, time + 10 * rate)
        while time < end {
            let count = min(end - time, rate)
            try feed(Frame(sound: format, sampleCount: Int(count), pts: time), output)
            time += count
        }
        position = time
        self.gap = time < gap.upperBound ? time..<gap.upperBound : nil
        guard self.gap == nil else { return }
        let frames = waiting
        waiting = []
        for frame in frames { try place(frame, output) }
    }

    // MARK: Encoding

    private func feed(_ frame: Frame, _ output: (Sample) -> Void) throws(MediaError) {
        try graph?.process(frame) { (filtered) throws(MediaError) in try join(filtered, output) }
    }

    private func drain(_ output: (Sample) -> Void) throws(MediaError) {
        try graph?.finish { (filtered) throws(MediaError) in try join(filtered, output) }
        graph = nil
    }

    /// Counts on, whatever times the conversion gives; only behind a change the two are brought together once.
    private func join(_ frame: Frame, _ output: (Sample) -> Void) throws(MediaError) {
        guard let pts = frame.pts, let told = try? frame.timeBase.rescale(pts, to: timeBase) else {
            throw MediaError(.timing, .invalidData, "A sound frame has no time.")
        }
        var frame = frame
        var time = joinedEnd ?? told
        if isRealigning, let joinedEnd {
            isRealigning = false
            let excess = joinedEnd - told
            if excess < 0, excess > -Int64(self.output.sampleRate) {
                let silence = try Frame(sound: self.output, sampleCount: Int(-excess), pts: joinedEnd)
                try cut(silence.retimed(pts: joinedEnd, duration: -excess, timeBase: timeBase), output)
                time = told
            } else if excess > 0, excess < Int64(frame.sampleCount) {
                frame = try frame.sound(Int(excess)..<frame.sampleCount)
            }
        }
        joinedEnd = time + Int64(frame.sampleCount)
        try cut(frame.retimed(pts: time, duration: Int64(frame.sampleCount), timeBase: timeBase), output)
    }

    private func cut(_ frame: Frame, _ output: (Sample) -> Void) throws(MediaError) {
        try chunks?.process(frame) { (chunk) throws(MediaError) in try encode(chunk, output) }
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
