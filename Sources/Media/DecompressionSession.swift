internal import CFFmpeg
public import MediaTime

/// Turns the samples of one track, in decode order, into frames.
///
/// Blocking and for one thread at a time. Output order is presentation order as far as the codec knows it; trust `pts`, not the
/// order. A sample that cannot be decoded is an error the session survives: go on with the next one.
public final class DecompressionSession {
    /// How to decode; the defaults do what the `ffmpeg` program does.
    public struct Settings: Sendable, Hashable {
        /// Decoder threads, at least 1. More than one adds delay, never changes the pictures of intact data.
        public var threads: Int
        /// Also give pictures that come before the first recovery point (H.264 §D.2.8), marked `isCorrupt` where the decoder
        /// knows. Off, as in the `ffmpeg` program: a stream's first usable picture is its first whole one.
        public var outputsCorruptFrames: Bool
        /// A libavcodec decoder name; `nil` for the default one of the codec.
        public var decoder: String?
        /// libavcodec's own options, applied in sorted order (`skip_frame=nokey`).
        public var options: [String: String]

        public init(
            threads: Int = 1, outputsCorruptFrames: Bool = false, decoder: String? = nil,
            options: [String: String] = [:]
        ) {
            self.threads = threads
            self.outputsCorruptFrames = outputsCorruptFrames
            self.decoder = decoder
            self.options = options
        }
    }

    /// What the decoder was opened for.
    public let format: FormatDescription
    /// Unit of the samples' and the frames' times.
    public let timeBase: TimeBase
    /// libavcodec's name of the decoder in use.
    public let decoderName: String

    private let context: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let outputsCorruptFrames: Bool
    private var isDrained = false
    /// The decoder's own words about the sample that was sent last, where it called something wrong with it.
    public private(set) var complaint: String?
    /// Times of samples that must give no picture, for decoders that do not look at the flag themselves (libdav1d).
    private var discarded: [Int64] = []

    /// - Parameter timeBase: unit of the samples' and the frames' times.
    /// - Throws: `.decoder`/`.unsupported` without a decoder for the format, `.invalidSettings` for an option it does not know.
    public init(format: FormatDescription, timeBase: TimeBase, settings: Settings = Settings()) throws(MediaError) {
        _ = CodecLog.installed
        let codec = try Self.decoder(for: format, named: settings.decoder)
        self.format = format
        self.timeBase = timeBase
        decoderName = String(cString: codec.pointee.name)
        outputsCorruptFrames = settings.outputsCorruptFrames
        guard let context = avcodec_alloc_context3(codec) else {
            throw MediaError(.resources, .outOfMemory, "No memory for a decoder.")
        }
        guard let packet = av_packet_alloc() else {
            var context: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&context)
            throw MediaError(.resources, .outOfMemory, "No memory for a decoder.")
        }
        self.context = context
        self.packet = packet
        try configure(settings)
        let code = avcodec_open2(context, codec, nil)
        guard code >= 0 else {
            // Whatever the code is, it is the format's headers that the decoder does not like.
            let isFormat =
                code != weft_averror(ENOMEM) && code != weft_averror(ENOSYS) && code != weft_averror_patch_welcome()
            let reason: MediaError.Reason =
                code == weft_averror(ENOMEM) ? .outOfMemory : isFormat ? .invalidData : .unsupported
            throw MediaError(
                .decoder, reason, "The \(format.codecName) decoder cannot be opened.", code: code,
                log: CodecLog.recentLines(of: context))
        }
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
    }

    private static func decoder(
        for format: FormatDescription, named name: String?
    ) throws(MediaError) -> UnsafePointer<AVCodec> {
        let codec =
            name.map { avcodec_find_decoder_by_name($0) } ?? avcodec_find_decoder(format.parameters.pointee.codec_id)
        guard let codec, codec.pointee.type == format.parameters.pointee.codec_type else {
            throw MediaError(
                .decoder, .unsupported,
                "This build of libavcodec has no decoder \(name.map { "“\($0)” " } ?? "")for \(format.codecName).",
                code: weft_averror_decoder_not_found())
        }
        return codec
    }

    private func configure(_ settings: Settings) throws(MediaError) {
        try check(
            avcodec_parameters_to_context(context, format.parameters), .format, "The format description is not usable.")
        guard let threads = Int32(exactly: settings.threads), threads >= 1 else {
            throw MediaError(.decoder, .invalidSettings, "A decoder cannot run on \(settings.threads) threads.")
        }
        context.pointee.thread_count = threads
        context.pointee.pkt_timebase = AVRational(timeBase)
        if format.mediaType == .video { context.pointee.get_buffer2 = NeutralBuffers.allocate }
        // What the stream itself hides on the left or above is else only cut off as far as the processor likes its addresses (Theora
        // §4.4.3 picture region, H.264 §7.4.2.1.1 frame_crop_left_offset).
        if format.mediaType == .video { context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED }
        // With less, pictures that come later than the decoder expected would be dropped as out of order.
        context.pointee.has_b_frames = max(context.pointee.has_b_frames, Int32(clamping: format.reorderDepth))
        // H.264 streams need not say how far they reorder (§E.2.1 bitstream_restriction_flag). libavcodec then guesses low and
        // drops the pictures that prove it wrong; told to be strict, it waits as long as the level allows (§A.3.1).
        if context.pointee.codec_id == AV_CODEC_ID_H264 {
            context.pointee.strict_std_compliance = FF_COMPLIANCE_STRICT
        }
        if settings.outputsCorruptFrames { context.pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT }
        for (name, value) in settings.options.sorted(by: { $0.key < $1.key }) {
            try setCodecOption(name, to: value, on: context, named: decoderName, .decoder)
        }
    }

    /// Decodes one sample and hands out the frames that are ready, maybe none.
    ///
    /// - Throws: `.decoder`/`.invalidData` for bad data, after all frames that were ready have been handed out; the session stays
    ///   usable. `.timing` for a sample in another time base. What `output` throws is passed on.
    public func decode(
        _ sample: Sample, output: (Frame) throws(MediaError) -> Void
    ) throws(MediaError) {
        guard sample.timeBase == timeBase else {
            throw MediaError(
                .timing, .invalidSettings,
                "A sample in units of \(sample.timeBase) s came to a decoder for \(timeBase) s.")
        }
        guard !isDrained else {
            throw MediaError(.decoder, .invalidSettings, "A sample came after the end; flush the session first.")
        }
        // An empty packet would be taken for the end of the stream.
        guard sample.size > 0 else { return }
        try check(av_packet_ref(packet, sample.storage.packet), .resources, "A sample could not be shared.")
        defer { av_packet_unref(packet) }
        packet.pointee.pts = sample.pts ?? weft_no_pts()
        packet.pointee.dts = sample.dts ?? weft_no_pts()
        packet.pointee.duration = sample.duration
        packet.pointee.time_base = AVRational(timeBase)
        if sample.isDiscarded, let pts = sample.pts { discarded.append(pts) }
        let mark = CodecLog.mark
        complaint = nil
        defer { complaint = CodecLog.firstError(of: context, since: mark) }

        var status = avcodec_send_packet(context, packet)
        if status == weft_averror(EAGAIN) {
            try receiveAll(output)
            status = avcodec_send_packet(context, packet)
        }
        let failure = status < 0 ? failure(status, sample.pts) : nil
        try receiveAll(output)
        if let failure { throw failure }
    }

    /// Hands out the frames that the decoder still holds. Afterwards only `flush` makes the session usable again.
    public func finish(output: (Frame) throws(MediaError) -> Void) throws(MediaError) {
        guard !isDrained else { return }
        isDrained = true
        let status = avcodec_send_packet(context, nil)
        if status < 0, status != weft_averror_eof() { throw failure(status, nil) }
        try receiveAll(output)
    }

    /// Forgets all that is under way: for a seek. The next sample should be a random access point.
    public func flush() {
        avcodec_flush_buffers(context)
        if !outputsCorruptFrames { context.pointee.flags &= ~AV_CODEC_FLAG_OUTPUT_CORRUPT }
        discarded.removeAll()
        isDrained = false
    }

    private func receiveAll(_ output: (Frame) throws(MediaError) -> Void) throws(MediaError) {
        var firstFailure: MediaError?
        // A decoder that fails for ever while draining would hold us here.
        var failures = 0
        while failures < 64 {
            let storage = try Frame.Storage()
            let status = avcodec_receive_frame(context, storage.frame)
            if status == weft_averror(EAGAIN) || status == weft_averror_eof() { break }
            if status < 0 {
                failures += 1
                if firstFailure == nil { firstFailure = failure(status, nil) }
                continue
            }
            trustWhatFollows()
            if let frame = take(storage) { try output(frame) }
        }
        if let firstFailure { throw firstFailure }
    }

    /// After a start at a recovery point (H.264 §D.2.8) libavcodec holds pictures back until one is whole. While draining it
    /// forgets that one was, takes the next for broken, and with it ends the stream: the last pictures before a cut at an open
    /// group would be lost. Once a picture has come out, all that follow it in presentation order are whole.
    private func trustWhatFollows() {
        guard context.pointee.codec_id == AV_CODEC_ID_H264 else { return }
        context.pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT
    }

    /// - Returns: `nil` for a picture that only served as a reference.
    private func take(_ storage: Frame.Storage) -> Frame? {
        let frame = storage.frame
        if frame.pointee.pts == weft_no_pts() { frame.pointee.pts = frame.pointee.best_effort_timestamp }
        let pts = frame.pointee.pts == weft_no_pts() ? nil : frame.pointee.pts
        if frame.pointee.flags & AV_FRAME_FLAG_DISCARD != 0 { return nil }
        if !discarded.isEmpty, let pts {
            let isDiscarded = discarded.contains(pts)
            discarded.removeAll { $0 <= pts }
            if isDiscarded { return nil }
        }
        return Frame(storage, pts: pts, duration: weft_frame_duration(frame), timeBase: timeBase)
    }

    /// libavcodec's decoders say "bad data" in many ways (EINVAL, EIO, ENOENT…); a caller wants to know whether to go on.
    private func failure(_ code: Int32, _ pts: Int64?) -> MediaError {
        let reason: MediaError.Reason =
            switch code {
            case weft_averror(ENOMEM): .outOfMemory
            case weft_averror(ENOSYS), weft_averror_patch_welcome(): .unsupported
            case weft_averror_exit(): .cancelled
            default: .invalidData
            }
        return MediaError(
            .decoder, reason,
            "The \(decoderName) decoder cannot decode the sample\(pts.map { " at \($0) × \(timeBase) s" } ?? "").",
            code: code, log: CodecLog.recentLines(of: context))
    }
}
