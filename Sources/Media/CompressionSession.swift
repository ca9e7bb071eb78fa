internal import CFFmpeg
internal import Foundation
internal import MediaTime

/// Turns frames, in presentation order, into the samples of one track.
///
/// Blocking and for one thread at a time. Starts with a random access point and never refers across one (closed GOP). The bytes
/// depend on the settings, the frames and the encoder's build only.
public final class CompressionSession {
    public let settings: CompressionSettings
    /// What a decoder of the samples must know. Some encoders know all of it only with their first sample: read it again after
    /// `finish`.
    public private(set) var format: FormatDescription
    /// Samples of each channel that a sound frame must have (the last may be shorter); 0 for any number and for pictures.
    public var frameSize: Int { Int(context.pointee.frame_size) }
    /// Pictures by which the coded order runs ahead of presentation: what the encoder announces, or what it did where that is
    /// more (not every encoder announces it). Final after `finish`.
    public private(set) var reorderDepth: Int

    private let context: UnsafeMutablePointer<AVCodecContext>
    private let scratch: UnsafeMutablePointer<AVFrame>
    private let timeBase: TimeBase
    private let isVideo: Bool
    /// Input times still inside the encoder, rising, with the durations that many encoders lose.
    private var pending: [(pts: Int64, duration: Int64, ordinal: Int)] = []
    private var frameCount = 0
    private var sampleCount = 0
    private var lastPTS: Int64?
    private var isFinished = false

    /// - Throws: `.encoder`/`.unsupported` without such an encoder, `.invalidSettings` naming what it does not take, `.format` for
    ///   an input that cannot exist.
    public init(settings: CompressionSettings) throws(MediaError) {
        _ = CodecLog.installed
        self.settings = settings
        timeBase = settings.timeBase
        if case .video = settings.input { isVideo = true } else { isVideo = false }
        context = try EncoderSetup.open(settings)
        reorderDepth = Int(context.pointee.has_b_frames)
        guard let scratch = av_frame_alloc() else {
            EncoderClosing.close(context, hasFrames: false, hasEnded: false)
            throw MediaError(.resources, .outOfMemory, "No memory for an encoder.")
        }
        self.scratch = scratch
        do {
            format = try Self.describe(context, settings)
        } catch {
            var scratch: UnsafeMutablePointer<AVFrame>? = scratch
            av_frame_free(&scratch)
            EncoderClosing.close(context, hasFrames: false, hasEnded: false)
            throw error
        }
    }

    deinit {
        var scratch: UnsafeMutablePointer<AVFrame>? = scratch
        av_frame_free(&scratch)
        EncoderClosing.close(context, hasFrames: frameCount > 0, hasEnded: isFinished)
    }

    /// - Parameter extradata: takes the place of what the encoder had when it was opened.
    private static func describe(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ settings: CompressionSettings,
        extradata: UnsafeBufferPointer<UInt8>? = nil, reorderDepth: Int? = nil
    ) throws(MediaError) -> FormatDescription {
        var parameters = avcodec_parameters_alloc()
        defer { avcodec_parameters_free(&parameters) }
        guard let parameters else { throw MediaError(.resources, .outOfMemory, "No memory for a format description.") }
        try check(
            avcodec_parameters_from_context(parameters, context), .encoder, "The encoder's format is not usable.")
        if let extradata { try replaceExtradata(of: parameters, with: extradata) }
        if let reorderDepth { parameters.pointee.video_delay = Int32(clamping: reorderDepth) }
        // The container repeats these beside the bit stream (ISO/IEC 14496-12 §12.1.5 `mdcv`, `clli`; Matroska's `Colour`).
        let attachments = [settings.masteringDisplay?.attachment, settings.contentLight?.attachment].compactMap { $0 }
        return try FormatDescription(copying: parameters, attachments: attachments)
    }

    private static func replaceExtradata(
        of parameters: UnsafeMutablePointer<AVCodecParameters>, with extradata: UnsafeBufferPointer<UInt8>
    ) throws(MediaError) {
        guard let source = extradata.baseAddress, let count = Int32(exactly: extradata.count),
            let copy = av_mallocz(extradata.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else { throw MediaError(.resources, .outOfMemory, "No memory for a format description.") }
        memcpy(copy, source, extradata.count)
        av_free(parameters.pointee.extradata)
        parameters.pointee.extradata = copy.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = count
    }

    // MARK: Encoding

    /// Encodes one frame and hands out the samples that are ready, maybe none. No pixel is copied here.
    ///
    /// - Throws: `.timing` for a picture that has no time, does not rise, or does not fit the time base exactly; `.encoder` for a
    ///   frame of another format and for what the encoder refuses. What `output` throws is passed on.
    public func encode(
        _ frame: Frame, forceKeyframe: Bool = false, output: (Sample) throws(MediaError) -> Void
    ) throws(MediaError) {
        guard !isFinished else { throw MediaError(.encoder, .invalidSettings, "A frame came after the end.") }
        try checkFormat(of: frame)
        let pts = try frame.ticks(in: timeBase)
        if let lastPTS, pts <= lastPTS {
            throw MediaError(
                .timing, .invalidData, "The timestamp \(pts) × \(timeBase) s does not rise above \(lastPTS).")
        }
        let duration = frame.durationTicks(in: timeBase)
        try check(av_frame_ref(scratch, frame.native), .resources, "A frame could not be shared.")
        defer { av_frame_unref(scratch) }
        scratch.pointee.pts = pts
        scratch.pointee.time_base = AVRational(timeBase)
        weft_frame_set_duration(scratch, duration)
        if isVideo { decidePictureType(isForced: forceKeyframe || frameCount == 0) }
        if isVideo { pending.append((pts, duration, frameCount)) }
        frameCount += 1
        lastPTS = pts

        var status = avcodec_send_frame(context, scratch)
        if status == weft_averror(EAGAIN) {
            try receiveAll(output)
            status = avcodec_send_frame(context, scratch)
        }
        try check(
            status, .encoder, "“\(settings.encoder)” cannot encode the frame at \(pts) × \(timeBase) s.",
            context: context)
        try receiveAll(output)
    }

    /// Hands out the samples that the encoder still holds.
    public func finish(output: (Sample) throws(MediaError) -> Void) throws(MediaError) {
        guard !isFinished else { return }
        isFinished = true
        let status = avcodec_send_frame(context, nil)
        if status != weft_averror_eof() {
            try check(status, .encoder, "“\(settings.encoder)” cannot finish.", context: context)
        }
        try receiveAll(output)
        if isVideo, reorderDepth != format.reorderDepth {
            let extradata = format.extradata
            format = try extradata.withUnsafeBufferPointer { bytes throws(MediaError) in
                try Self.describe(
                    context, settings, extradata: bytes.isEmpty ? nil : bytes, reorderDepth: reorderDepth)
            }
        }
        if let lost = pending.first {
            throw MediaError(
                .encoder, .other,
                "“\(settings.encoder)” gave no sample for \(pending.count) frames, the first at \(lost.pts) × \(timeBase) s.",
                log: CodecLog.recentLines(of: context))
        }
    }

    /// The decoder's picture types must not steer the encoder.
    private func decidePictureType(isForced: Bool) {
        scratch.pointee.pict_type = isForced ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        weft_frame_set_key(scratch, isForced ? 1 : 0)
        scratch.pointee.quality = 0
    }

    private func checkFormat(of frame: Frame) throws(MediaError) {
        let given = frame.native.pointee
        let fits =
            isVideo
            ? given.width == context.pointee.width && given.height == context.pointee.height
                && given.format == context.pointee.pix_fmt.rawValue
            : given.sample_rate == context.pointee.sample_rate && given.format == context.pointee.sample_fmt.rawValue
                && given.ch_layout.nb_channels == context.pointee.ch_layout.nb_channels
        guard fits else {
            throw MediaError(
                .encoder, .invalidSettings,
                "The frame's format is not the one that “\(settings.encoder)” was opened for.")
        }
    }

    private func receiveAll(_ output: (Sample) throws(MediaError) -> Void) throws(MediaError) {
        while true {
            guard let packet = av_packet_alloc() else {
                throw MediaError(.resources, .outOfMemory, "No memory for a sample.")
            }
            let status = avcodec_receive_packet(context, packet)
            guard status >= 0 else {
                var packet: UnsafeMutablePointer<AVPacket>? = packet
                av_packet_free(&packet)
                if status == weft_averror(EAGAIN) || status == weft_averror_eof() { return }
                try check(status, .encoder, "“\(settings.encoder)” failed.", context: context)
                return
            }
            try output(take(packet))
        }
    }

    private func take(_ packet: UnsafeMutablePointer<AVPacket>) throws(MediaError) -> Sample {
        let adopted = Sample(adopting: packet, track: 0, format: format, timeBase: timeBase)
        var size = 0
        if let data = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 {
            format = try Self.describe(context, settings, extradata: UnsafeBufferPointer(start: data, count: size))
        }
        guard isVideo else { return adopted.described(by: format, track: 0) }
        // Promise to the caller: the samples' times are the frames' times, each once.
        guard let pts = adopted.pts, let index = pending.firstIndex(where: { $0.pts == pts }) else {
            throw MediaError(
                .timing, .other,
                "“\(settings.encoder)” gave a sample at \(adopted.pts.map { "\($0) × \(timeBase) s" } ?? "no time"), where no frame was."
            )
        }
        let (_, duration, ordinal) = pending.remove(at: index)
        // Samples that came before this one although they are shown after it.
        reorderDepth = max(reorderDepth, sampleCount - (ordinal - index))
        sampleCount += 1
        return adopted.described(by: format, track: 0).retimed(
            pts: pts, dts: adopted.dts, duration: duration > 0 ? duration : adopted.duration, timeBase: timeBase)
    }
}
