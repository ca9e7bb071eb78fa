internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// Decodes a sound track and encodes it once over its whole length.
///
/// Times come from the decoded frames; a gap in the source is filled with silence of the same length, so that the number of
/// samples and the time never part.
final class AudioTranscoder {
    let format: FormatDescription
    let timeBase: TimeBase
    private let decoder: DecompressionSession
    private let encoder: CompressionSession
    private let output: AudioFormat
    private let trim: String
    private var graph: FilterGraph?
    private var inputFormat: AudioFormat?
    private var origin: Int64 = 0

    init(
        track: Track, encoding: CarriedTrack.AudioEncoding, start: MediaTime?, end: MediaTime?
    ) throws(Failure) {
        do throws(MediaError) {
            decoder = try DecompressionSession(format: track.format, timeBase: track.timeBase)
            guard let info = EncoderCatalog.encoder(named: encoding.encoder) else {
                throw MediaError(.encoder, .unsupported, "This FFmpeg has no encoder “\(encoding.encoder)”.")
            }
            guard let chosen = Self.inputFormat(of: info, nearest: track.format) else {
                throw MediaError(
                    .encoder, .unsupported,
                    "Track \(track.index) (\(track.format.codecName), \(track.format.sampleRate) Hz) suits no input of \(encoding.encoder)."
                )
            }
            output = chosen
            var settings = CompressionSettings(encoder: encoding.encoder, audio: chosen)
            settings.bitrate = encoding.bitrate
            settings.globalHeader = encoding.globalHeader
            encoder = try CompressionSession(settings: settings)
        } catch {
            throw Failure(error, role: .encode)
        }
        format = encoder.format
        timeBase = output.timeBase
        // Cut to the sample, in the source's ticks.
        var bounds: [String] = []
        if let start, let ticks = try? start.ticks(in: track.timeBase) { bounds.append("start_pts=\(ticks)") }
        if let end, let ticks = try? end.ticks(in: track.timeBase) { bounds.append("end_pts=\(ticks)") }
        trim = bounds.isEmpty ? "" : "atrim=\(bounds.joined(separator: ":")),"
    }

    /// The input of an encoder that changes the source's sound least.
    private static func inputFormat(of encoder: EncoderCatalog.Encoder, nearest format: FormatDescription)
        -> AudioFormat?
    {
        let rate =
            encoder.sampleRates.isEmpty || encoder.sampleRates.contains(format.sampleRate)
            ? format.sampleRate
            : encoder.sampleRates.filter { $0 > format.sampleRate }.min() ?? encoder.sampleRates.max()
                ?? format.sampleRate
        guard let layout = format.channelLayout else { return nil }
        return AudioFormat(
            sampleRate: rate, sampleFormat: encoder.sampleFormats.first ?? "fltp", channelLayout: layout)
    }

    /// - Parameter origin: what becomes time zero, in the source track's ticks.
    func encode(_ sample: Sample, origin: Int64, output: (Sample) -> Void) throws(Failure) {
        self.origin = origin
        do {
            try decoder.decode(sample) { (frame) throws(MediaError) in try filter(frame, output) }
        } catch {
            // A damaged packet is a gap, and gaps are filled; the rest of the track is not lost for it.
            guard error.reason == .invalidData else { throw Failure(error, role: .encode) }
        }
    }

    func finish(output: (Sample) -> Void) throws(Failure) {
        do {
            try decoder.finish { (frame) throws(MediaError) in try filter(frame, output) }
            try drain(output)
            try encoder.finish { output($0) }
        } catch {
            throw Failure(error, role: .encode)
        }
    }

    private func filter(_ frame: Frame, _ output: (Sample) -> Void) throws(MediaError) {
        if inputFormat != frame.audioFormat || graph == nil {
            try drain(output)
            guard let format = frame.audioFormat else { return }
            inputFormat = format
            let pieces = encoder.frameSize > 0 ? ",asetnsamples=n=\(encoder.frameSize):p=0" : ""
            graph = try FilterGraph(
                description:
                    "\(trim)aresample=\(self.output.sampleRate):async=1:min_hard_comp=0.02:first_pts=\(firstSample(frame)),aformat=sample_fmts=\(self.output.sampleFormat):sample_rates=\(self.output.sampleRate):channel_layouts=\(self.output.channelLayout)\(pieces)",
                input: format)
        }
        try graph?.process(frame) { (filtered) throws(MediaError) in try encode(filtered, output) }
    }

    private func firstSample(_ frame: Frame) -> Int64 {
        guard let pts = frame.pts else { return 0 }
        return (try? frame.timeBase.rescale(pts, to: timeBase)) ?? 0
    }

    private func drain(_ output: (Sample) -> Void) throws(MediaError) {
        try graph?.finish { (filtered) throws(MediaError) in try encode(filtered, output) }
        graph = nil
    }

    private func encode(_ frame: Frame, _ output: (Sample) -> Void) throws(MediaError) {
        guard let pts = frame.pts, let time = try? frame.timeBase.rescale(pts, to: timeBase),
            let base = try? decoder.timeBase.rescale(origin, to: timeBase)
        else { throw MediaError(.timing, .invalidData, "A sound frame has no time.") }
        try encoder.encode(frame.retimed(pts: time &- base, duration: Int64(frame.sampleCount), timeBase: timeBase)) {
            output($0)
        }
    }
}
