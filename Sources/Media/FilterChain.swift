internal import CFFmpeg
internal import MediaTime

/// A configured libavfilter graph between one source and one sink.
final class FilterChain {
    let sink: UnsafeMutablePointer<AVFilterContext>
    private let source: UnsafeMutablePointer<AVFilterContext>
    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let scratch: UnsafeMutablePointer<AVFrame>
    private let text: String

    /// - Parameters:
    ///   - conversion: name and arguments of a last filter before the sink.
    ///   - keepsFullRange: where a conversion is put in between, full-range pictures stay full. libswscale would compress them for
    ///     every format that is not called `yuvj…`, and the frames would still say "full".
    ///   - describe: fills in what the source will be given.
    init(
        _ text: String, source sourceName: String, sink sinkName: String, conversion: (String, String)?,
        keepsFullRange: Bool = false,
        describe: (UnsafeMutablePointer<AVBufferSrcParameters>) throws(MediaError) -> Void
    ) throws(MediaError) {
        self.text = text
        guard let graph = avfilter_graph_alloc() else {
            throw MediaError(.resources, .outOfMemory, "No memory for a filter graph.")
        }
        do throws(MediaError) {
            guard let scratch = av_frame_alloc() else {
                throw MediaError(.resources, .outOfMemory, "No memory for a filter graph.")
            }
            self.scratch = scratch
        } catch {
            var graph: UnsafeMutablePointer<AVFilterGraph>? = graph
            avfilter_graph_free(&graph)
            throw error
        }
        do throws(MediaError) {
            graph.pointee.nb_threads = 1
            // The vector code of libswscale rounds differently from machine to machine unless told not to.
            graph.pointee.scale_sws_opts = av_strdup(
                "flags=bicubic+accurate_rnd+full_chroma_int+bitexact" + (keepsFullRange ? ":out_range=pc" : ""))
            source = try Self.makeSource(sourceName, in: graph, describe)
            sink = try Self.make(sinkName, nil, "out", in: graph)
            var last = sink
            if let conversion {
                last = try Self.make(conversion.0, conversion.1, "conversion", in: graph)
                try check(avfilter_link(last, 0, sink, 0), .filter, "The filter graph cannot be linked.")
            }
            try Self.parse(text, in: graph, from: source, to: last)
            try check(
                avfilter_graph_config(graph, nil), .filter, "The filter “\(text)” cannot be set up.", context: graph)
        } catch {
            var scratch: UnsafeMutablePointer<AVFrame>? = scratch
            av_frame_free(&scratch)
            var graph: UnsafeMutablePointer<AVFilterGraph>? = graph
            avfilter_graph_free(&graph)
            throw error
        }
        self.graph = graph
    }

    deinit {
        var scratch: UnsafeMutablePointer<AVFrame>? = scratch
        av_frame_free(&scratch)
        var graph: UnsafeMutablePointer<AVFilterGraph>? = graph
        avfilter_graph_free(&graph)
    }

    private static func allocate(
        _ name: String, _ label: String, in graph: UnsafeMutablePointer<AVFilterGraph>
    ) throws(MediaError) -> UnsafeMutablePointer<AVFilterContext> {
        guard let filter = avfilter_get_by_name(name) else {
            throw MediaError(.filter, .unsupported, "This build of libavfilter has no filter “\(name)”.")
        }
        guard let context = avfilter_graph_alloc_filter(graph, filter, label) else {
            throw MediaError(.resources, .outOfMemory, "No memory for a filter.")
        }
        return context
    }

    private static func make(
        _ name: String, _ arguments: String?, _ label: String, in graph: UnsafeMutablePointer<AVFilterGraph>
    ) throws(MediaError) -> UnsafeMutablePointer<AVFilterContext> {
        let context = try allocate(name, label, in: graph)
        try check(
            avfilter_init_str(context, arguments), .filter, "The filter “\(name)” cannot be set up.", context: context)
        return context
    }

    private static func makeSource(
        _ name: String, in graph: UnsafeMutablePointer<AVFilterGraph>,
        _ describe: (UnsafeMutablePointer<AVBufferSrcParameters>) throws(MediaError) -> Void
    ) throws(MediaError) -> UnsafeMutablePointer<AVFilterContext> {
        let source = try allocate(name, "in", in: graph)
        guard let parameters = av_buffersrc_parameters_alloc() else {
            throw MediaError(.resources, .outOfMemory, "No memory for a filter graph.")
        }
        defer {
            av_channel_layout_uninit(&parameters.pointee.ch_layout)
            av_free(parameters)
        }
        try describe(parameters)
        try check(av_buffersrc_parameters_set(source, parameters), .filter, "The filter's input is not usable.")
        try check(avfilter_init_str(source, nil), .filter, "The filter's input is not usable.", context: source)
        return source
    }

    private static func parse(
        _ text: String, in graph: UnsafeMutablePointer<AVFilterGraph>,
        from source: UnsafeMutablePointer<AVFilterContext>,
        to last: UnsafeMutablePointer<AVFilterContext>
    ) throws(MediaError) {
        guard !text.isEmpty else {
            try check(avfilter_link(source, 0, last, 0), .filter, "The filter graph cannot be linked.")
            return
        }
        // libavfilter takes what it links out of these lists and frees it; the rest is freed here.
        var outputs = avfilter_inout_alloc()
        var inputs = avfilter_inout_alloc()
        defer {
            avfilter_inout_free(&outputs)
            avfilter_inout_free(&inputs)
        }
        guard let open = outputs, let wanted = inputs else {
            throw MediaError(.resources, .outOfMemory, "No memory for a filter graph.")
        }
        open.pointee.name = av_strdup("in")
        open.pointee.filter_ctx = source
        wanted.pointee.name = av_strdup("out")
        wanted.pointee.filter_ctx = last
        try check(
            avfilter_graph_parse_ptr(graph, text, &inputs, &outputs, nil), .filter,
            "The filter “\(text)” is not understood.", context: graph)
        guard inputs == nil, outputs == nil else {
            throw MediaError(
                .filter, .invalidSettings, "The filter “\(text)” does not have exactly one input and one output.")
        }
    }

    // MARK: Frames

    func send(_ frame: Frame, pts: Int64, duration: Int64) throws(MediaError) {
        try check(av_frame_ref(scratch, frame.native), .resources, "A frame could not be shared.")
        defer { av_frame_unref(scratch) }
        scratch.pointee.pts = pts
        scratch.pointee.time_base = source.pointee.outputs[0]?.pointee.time_base ?? scratch.pointee.time_base
        weft_frame_set_duration(scratch, duration)
        try check(
            av_buffersrc_add_frame_flags(source, scratch, Int32(AV_BUFFERSRC_FLAG_PUSH)), .filter,
            "The filter “\(text)” failed on a frame.", context: source)
    }

    /// - Parameter end: when the last frame ends, so that a filter such as `fps` can fill that time too.
    func sendEnd(at end: Int64?) throws(MediaError) {
        let status = av_buffersrc_close(source, end ?? weft_no_pts(), UInt32(AV_BUFFERSRC_FLAG_PUSH))
        guard status != weft_averror_eof() else { return }
        try check(status, .filter, "The filter “\(text)” failed at the end.", context: source)
    }

    /// - Returns: `nil` when the chain wants more input or has ended.
    func receive() throws(MediaError) -> Frame.Storage? {
        let storage = try Frame.Storage()
        let status = av_buffersink_get_frame(sink, storage.frame)
        if status == weft_averror(EAGAIN) || status == weft_averror_eof() { return nil }
        try check(status, .filter, "The filter “\(text)” failed.", context: sink)
        return storage
    }

    // MARK: Formats

    func pictureFormat(after input: FrameFormat) -> FrameFormat {
        var format = input
        format.width = Int(av_buffersink_get_w(sink))
        format.height = Int(av_buffersink_get_h(sink))
        if let name = av_get_pix_fmt_name(AVPixelFormat(av_buffersink_get_format(sink))) {
            format.pixelFormat = String(cString: name)
        }
        format.sampleAspectRatio = Rational(known: av_buffersink_get_sample_aspect_ratio(sink))
        format.frameRate = Rational(known: av_buffersink_get_frame_rate(sink))
        return format
    }

    func soundFormat() -> AudioFormat? {
        var layout = AVChannelLayout()
        defer { av_channel_layout_uninit(&layout) }
        guard av_buffersink_get_ch_layout(sink, &layout) >= 0,
            let name = av_get_sample_fmt_name(AVSampleFormat(av_buffersink_get_format(sink)))
        else { return nil }
        let unit = Rational(known: av_buffersink_get_time_base(sink))
        return AudioFormat(
            sampleRate: Int(av_buffersink_get_sample_rate(sink)), sampleFormat: String(cString: name),
            channelLayout: channelLayoutDescription(&layout),
            timeBase: unit.flatMap { TimeBase(numerator: $0.numerator, denominator: $0.denominator) })
    }
}
