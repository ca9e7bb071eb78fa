internal import CFFmpeg
internal import MediaTime

/// How like two pictures are, by libavfilter's `psnr` and `ssim`: luma, picture by picture.
///
/// Both pictures must have the size and the pixel format that it was made for. Blocking, for one thread at a time.
package final class PictureComparison {
    package struct Likeness: Sendable, Hashable {
        /// Peak signal to noise ratio of luma in decibels; +∞ for equal pictures.
        package var decibels: Double
        /// Structural similarity of luma, 1 for equal pictures.
        package var similarity: Double
    }

    /// Pixel formats that both filters take as they are.
    package static func takes(_ pixelFormat: String) -> Bool {
        let depths = ["", "9le", "10le", "12le", "14le", "16le"]
        return depths.contains { depth in
            ["yuv420p", "yuv422p", "yuv444p", "yuv440p", "gray"].contains { $0 + depth == pixelFormat }
        } || ["yuvj420p", "yuvj422p", "yuvj444p", "yuvj440p"].contains(pixelFormat)
    }

    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let scratch: UnsafeMutablePointer<AVFrame>
    private var sources: [UnsafeMutablePointer<AVFilterContext>] = []
    private var sink: UnsafeMutablePointer<AVFilterContext>?
    private let input: FrameFormat
    /// The filters pair pictures by time; what pictures belong together is decided by who calls.
    private var count: Int64 = 0

    package init(_ input: FrameFormat) throws(MediaError) {
        _ = CodecLog.installed
        self.input = input
        guard let graph = avfilter_graph_alloc(), let scratch = av_frame_alloc() else {
            throw MediaError(.resources, .outOfMemory, "No memory for a filter graph.")
        }
        self.graph = graph
        self.scratch = scratch
        graph.pointee.nb_threads = 1
        try link()
    }

    deinit {
        var scratch: UnsafeMutablePointer<AVFrame>? = scratch
        av_frame_free(&scratch)
        var graph: UnsafeMutablePointer<AVFilterGraph>? = graph
        avfilter_graph_free(&graph)
    }

    package func accepts(_ frame: Frame) -> Bool {
        frame.width == input.width && frame.height == input.height && frame.pixelFormat == input.pixelFormat
    }

    private func link() throws(MediaError) {
        let size = try input.checkedSize()
        let format = try input.pixelFormatCode().rawValue
        let buffer =
            "buffer=video_size=\(size.width)x\(size.height):pix_fmt=\(format):time_base=1/1000:pixel_aspect=1/1"
        let text =
            "\(buffer)[left];\(buffer)[right];[right]split[c][d];[left][c]psnr[p];[p][d]ssim,buffersink"
        var inputs: UnsafeMutablePointer<AVFilterInOut>?
        var outputs: UnsafeMutablePointer<AVFilterInOut>?
        defer {
            avfilter_inout_free(&inputs)
            avfilter_inout_free(&outputs)
        }
        try check(
            avfilter_graph_parse2(graph, text, &inputs, &outputs), .filter, "Pictures cannot be compared.",
            context: graph)
        try check(avfilter_graph_config(graph, nil), .filter, "Pictures cannot be compared.", context: graph)
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

    /// - Returns: `nil` for pictures that cannot be told apart by these measures (too small).
    package func likeness(_ left: Frame, _ right: Frame) throws(MediaError) -> Likeness? {
        guard accepts(left), accepts(right), let sink else {
            throw MediaError(.filter, .invalidSettings, "Pictures of another format cannot be compared.")
        }
        for (source, frame) in zip(sources, [left, right]) {
            try check(av_frame_ref(scratch, frame.native), .resources, "A frame could not be shared.")
            defer { av_frame_unref(scratch) }
            scratch.pointee.pts = count
            // The name of the colours plays no part in the distance, and differing names would have them converted.
            scratch.pointee.colorspace = AVCOL_SPC_UNSPECIFIED
            scratch.pointee.color_range = AVCOL_RANGE_UNSPECIFIED
            scratch.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
            try check(
                av_buffersrc_add_frame_flags(source, scratch, Int32(AV_BUFFERSRC_FLAG_PUSH)), .filter,
                "Pictures cannot be compared.", context: source)
        }
        count += 1
        let result = try Frame.Storage()
        let status = av_buffersink_get_frame(sink, result.frame)
        guard status != weft_averror(EAGAIN) else { return nil }
        try check(status, .filter, "Pictures cannot be compared.", context: sink)
        func number(_ key: String) -> Double? {
            av_dict_get(result.frame.pointee.metadata, key, nil, 0)?.pointee.value.flatMap {
                Double(String(cString: $0))
            }
        }
        guard let decibels = number("lavfi.psnr.psnr.y"), let similarity = number("lavfi.ssim.Y"), !decibels.isNaN,
            similarity.isFinite
        else { return nil }
        return Likeness(decibels: decibels, similarity: similarity)
    }
}
