internal import CFFmpeg
internal import Foundation

/// How a `CompressionSettings` becomes an open libavcodec encoder.
enum EncoderSetup {
    static func open(_ settings: CompressionSettings) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
        if settings.encoder == "libsvtav1" { silenceSVT }
        let codec = try find(settings)
        guard let context = avcodec_alloc_context3(codec) else {
            throw MediaError(.resources, .outOfMemory, "No memory for an encoder.")
        }
        do throws(MediaError) {
            try configure(context, codec, settings)
            let mark = CodecLog.mark
            let (status, words) = ForeignOutput.capture {
                SVTSessions.alone(codec) { SchedulingClass.kept { avcodec_open2(context, codec, nil) } }
            }
            do {
                try check(status, .encoder, "“\(settings.encoder)” cannot be opened.", context: context)
            } catch {
                throw MediaError(
                    error.boundary, error.reason, error.message, code: error.code, log: words.suffix(8) + error.log)
            }
            try refuseComplaints(since: mark, context, settings)
        } catch {
            EncoderClosing.close(context, hasFrames: false, hasEnded: false)
            throw error
        }
        return context
    }

    /// SVT-AV1 writes to standard error past libav's log; only its environment variable stops that.
    private static let silenceSVT: Void = { _ = setenv("SVT_LOG", "1", 0) }()

    private static func find(_ settings: CompressionSettings) throws(MediaError) -> UnsafePointer<AVCodec> {
        guard let codec = avcodec_find_encoder_by_name(settings.encoder) else {
            throw MediaError(
                .encoder, .unsupported, "This build of libavcodec has no encoder “\(settings.encoder)”.",
                code: weft_averror_encoder_not_found())
        }
        let wanted: AVMediaType
        if case .video = settings.input { wanted = AVMEDIA_TYPE_VIDEO } else { wanted = AVMEDIA_TYPE_AUDIO }
        guard codec.pointee.type == wanted else {
            let what = wanted == AVMEDIA_TYPE_VIDEO ? "pictures" : "sound"
            throw MediaError(.encoder, .invalidSettings, "“\(settings.encoder)” does not encode \(what).")
        }
        return codec
    }

    private static func configure(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ codec: UnsafePointer<AVCodec>,
        _ settings: CompressionSettings
    ) throws(MediaError) {
        guard let threads = Int32(exactly: settings.threads), threads >= 1 else {
            throw MediaError(.encoder, .invalidSettings, "An encoder cannot run on \(settings.threads) threads.")
        }
        guard settings.bitrate >= 0 else {
            throw MediaError(.encoder, .invalidSettings, "A bit rate of \(settings.bitrate) is not possible.")
        }
        context.pointee.thread_count = threads
        context.pointee.time_base = AVRational(settings.timeBase)
        if settings.bitrate > 0 { context.pointee.bit_rate = settings.bitrate }
        weft_codec_set_flags(
            context, settings.globalHeader ? 1 : 0, settings.isBitExact ? 1 : 0,
            settings.scan == .progressive ? 0 : 1)
        switch settings.input {
        case .video(let format): try configure(context, codec, format, settings.scan)
        case .audio(let format): try configure(context, codec, format)
        }
        for (name, value) in EncoderDefaults.options(for: settings, context) {
            try setCodecOption(name, to: value, on: context, named: settings.encoder, .encoder)
        }
    }

    private static func configure(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ codec: UnsafePointer<AVCodec>, _ format: FrameFormat,
        _ scan: CompressionSettings.Scan
    ) throws(MediaError) {
        let size = try format.checkedSize()
        let pixelFormat = try format.pixelFormatCode()
        let colour = try format.colour.codes()
        let supported = EncoderCatalog.pixelFormats(of: codec)
        guard supported.isEmpty || supported.contains(pixelFormat) else {
            throw MediaError(
                .encoder, .invalidSettings,
                "“\(String(cString: codec.pointee.name))” does not take \(format.pixelFormat) pictures, only "
                    + supported.compactMap { av_get_pix_fmt_name($0).map { String(cString: $0) } }
                    .joined(separator: ", ") + ".")
        }
        context.pointee.width = size.width
        context.pointee.height = size.height
        context.pointee.pix_fmt = pixelFormat
        context.pointee.sample_aspect_ratio = AVRational(format.sampleAspectRatio)
        // Without a rate encoders would take the time base for it: 90,000 frames a second, and the highest level.
        context.pointee.framerate = format.frameRate.map { AVRational($0) } ?? AVRational(num: 25, den: 1)
        context.pointee.color_primaries = colour.primaries
        context.pointee.color_trc = colour.transfer
        context.pointee.colorspace = colour.matrix
        context.pointee.color_range = colour.range
        context.pointee.chroma_sample_location = colour.chromaLocation
        context.pointee.field_order =
            switch scan {
            case .progressive: AV_FIELD_PROGRESSIVE
            case .topFieldFirst: AV_FIELD_TT
            case .bottomFieldFirst: AV_FIELD_BB
            }
    }

    private static func configure(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ codec: UnsafePointer<AVCodec>, _ format: AudioFormat
    ) throws(MediaError) {
        let sampleFormat = try format.sampleFormatCode()
        let name = String(cString: codec.pointee.name)
        let formats = EncoderCatalog.sampleFormats(of: codec)
        guard formats.isEmpty || formats.contains(sampleFormat) else {
            throw MediaError(.encoder, .invalidSettings, "“\(name)” does not take \(format.sampleFormat) samples.")
        }
        let rates = EncoderCatalog.sampleRates(of: codec)
        guard rates.isEmpty || rates.contains(format.sampleRate) else {
            throw MediaError(.encoder, .invalidSettings, "“\(name)” does not take a rate of \(format.sampleRate) Hz.")
        }
        context.pointee.sample_fmt = sampleFormat
        context.pointee.sample_rate = try format.checkedSampleRate()
        try format.withChannelLayout { (layout) throws(MediaError) in
            _ = try check(
                av_channel_layout_copy(&context.pointee.ch_layout, layout), .resources,
                "No memory for a channel layout.")
        }
    }

    /// libx264, libx265 and libsvtav1 only log what they do not understand in their parameter lists, and go on without it.
    private static func refuseComplaints(
        since mark: UInt64, _ context: UnsafeMutablePointer<AVCodecContext>, _ settings: CompressionSettings
    ) throws(MediaError) {
        let complaints = CodecLog.recentLines(of: context, since: mark).filter { line in
            ["Error parsing option", "Unknown option", "Invalid value for", "bad option", "bad value"].contains {
                line.contains($0)
            }
        }
        guard let first = complaints.first else { return }
        throw MediaError(
            .encoder, .invalidSettings, "“\(settings.encoder)” does not take one of its parameters: \(first)",
            log: complaints)
    }
}
