internal import CFFmpeg
internal import MediaTime

/// A filter graph of libavfilter that takes two pictures and gives one answer.
///
/// Blocking, for one thread at a time.
final class PictureFilter {
    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let scratch: UnsafeMutablePointer<AVFrame>
    private var sources: [UnsafeMutablePointer<AVFilterContext>] = []
    private var sink: UnsafeMutablePointer<AVFilterContext>?
    /// The filters pair pictures by time; what pictures belong together is decided by who calls.
    private var count: Int64 = 0
    private static let words = "Pictures cannot be compared."

    /// - Parameter text: of the graph, with two sources (`source(of:)`) and one `buffersink`.
    init(_ text: String) throws(MediaError) {
        _ = CodecLog.installed
        guard let graph = avfilter_graph_alloc(), let scratch = av_frame_alloc() else {
            throw MediaError(.resources, .outOfMemory, "No memory for a filter graph.")
        }
        self.graph = graph
        self.scratch = scratch
        graph.pointee.nb_threads = 1
        try link(text)
    }

    deinit {
        var scratch: UnsafeMutablePointer<AVFrame>? = scratch
        av_frame_free(&scratch)
        var graph: UnsafeMutablePointer<AVFilterGraph>? = graph
        avfilter_graph_free(&graph)
    }

    /// The source of a graph for pictures of this format, as libavfilter writes it.
    static func source(of format: FrameFormat) throws(MediaError) -> String {
        let size = try format.checkedSize()
        let code = try format.pixelFormatCode().rawValue
        return "buffer=video_size=\(size.width)x\(size.height):pix_fmt=\(code):time_base=1/1000:pixel_aspect=1/1"
    }

    private func link(_ text: String) throws(MediaError) {
        var inputs: UnsafeMutablePointer<AVFilterInOut>?
        var outputs: UnsafeMutablePointer<AVFilterInOut>?
        defer {
            avfilter_inout_free(&inputs)
            avfilter_inout_free(&outputs)
        }
        try check(avfilter_graph_parse2(graph, text, &inputs, &outputs), .filter, Self.words, context: graph)
        try check(avfilter_graph_config(graph, nil), .filter, Self.words, context: graph)
        for index in 0..<Int(graph.pointee.nb_filters) {
            guard let filter = graph.pointee.filters[index] else { continue }
            switch filter.pointee.filter.flatMap({ String(cString: $0.pointee.name) }) {
            case "buffer": sources.append(filter)
            case "buffersink": sink = filter
            default: break
            }
        }
        guard sources.count == 2, sink != nil else {
            throw MediaError(.filter, .unsupported, "This build of libavfilter cannot compare pictures.")
        }
    }

    /// - Returns: `nil` where nothing came out.
    func answer(to first: Frame, _ second: Frame) throws(MediaError) -> Frame.Storage? {
        for (source, frame) in zip(sources, [first, second]) {
            try check(av_frame_ref(scratch, frame.native), .resources, "A frame could not be shared.")
            defer { av_frame_unref(scratch) }
            scratch.pointee.pts = count
            // The name of the colours plays no part in the distance, and differing names would have them converted.
            scratch.pointee.colorspace = AVCOL_SPC_UNSPECIFIED
            scratch.pointee.color_range = AVCOL_RANGE_UNSPECIFIED
            scratch.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
            try check(
                av_buffersrc_add_frame_flags(source, scratch, Int32(AV_BUFFERSRC_FLAG_PUSH)), .filter, Self.words,
                context: source)
        }
        count += 1
        let result = try Frame.Storage()
        let status = av_buffersink_get_frame(sink, result.frame)
        guard status != weft_averror(EAGAIN) else { return nil }
        try check(status, .filter, Self.words, context: sink)
        return result
    }
}
