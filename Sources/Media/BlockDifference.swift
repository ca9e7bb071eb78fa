internal import CFFmpeg
internal import MediaTime

/// How far two pictures are apart where they differ most: the mean difference of brightness in the worst block of 16 × 16 pixels,
/// 0 to 255.
///
/// Coding errors spread over a picture; damage is all in one place, and a mean over the whole picture (`PictureComparison`) hardly
/// moves. Computed by libavfilter. Blocking, for one thread at a time.
package final class BlockDifference {
    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let scratch: UnsafeMutablePointer<AVFrame>
    private var sources: [UnsafeMutablePointer<AVFilterContext>] = []
    private var sink: UnsafeMutablePointer<AVFilterContext>?
    private let left: FrameFormat
    private let right: FrameFormat
    private var count: Int64 = 0

    /// - Throws: where pictures of these formats cannot be brought to one.
    package init(_ left: FrameFormat, _ right: FrameFormat) throws(MediaError) {
        _ = CodecLog.installed
        guard left.width == right.width, left.height == right.height else {
            throw MediaError(.filter, .invalidSettings, "Pictures of two sizes cannot be compared.")
        }
        guard let graph = avfilter_graph_alloc(), let scratch = av_frame_alloc() else {
            throw MediaError(.resources, .outOfMemory, "No memory for a filter graph.")
        }
        self.left = left
        self.right = right
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

    package func accepts(_ first: Frame, _ second: Frame) -> Bool {
        func fits(_ frame: Frame, _ format: FrameFormat) -> Bool {
            frame.width == format.width && frame.height == format.height && frame.pixelFormat == format.pixelFormat
        }
        return fits(first, left) && fits(second, right)
    }

    private func link() throws(MediaError) {
        let size = try left.checkedSize()
        func buffer(_ format: FrameFormat) throws(MediaError) -> String {
            let code = try format.pixelFormatCode().rawValue
            let luma = PictureComparison.takes(format.pixelFormat) ? "extractplanes=y" : "format=gray"
            return
                "buffer=video_size=\(size.width)x\(size.height):pix_fmt=\(code):time_base=1/1000:pixel_aspect=1/1,\(luma)"
        }
        let blocks = "\(max(1, size.width / 16)):\(max(1, size.height / 16))"
        let text =
            "\(try buffer(left))[a];\(try buffer(right))[b];"
            + "[a][b]blend=all_mode=difference,scale=\(blocks):flags=area,format=gray,buffersink"
        var inputs: UnsafeMutablePointer<AVFilterInOut>?
        var outputs: UnsafeMutablePointer<AVFilterInOut>?
        defer {
            avfilter_inout_free(&inputs)
            avfilter_inout_free(&outputs)
        }
        let words = "Pictures cannot be compared."
        try check(avfilter_graph_parse2(graph, text, &inputs, &outputs), .filter, words, context: graph)
        try check(avfilter_graph_config(graph, nil), .filter, words, context: graph)
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

    /// - Returns: `nil` where nothing came out of the comparison.
    package func largest(_ first: Frame, _ second: Frame) throws(MediaError) -> Double? {
        guard accepts(first, second), let sink else {
            throw MediaError(.filter, .invalidSettings, "Pictures of another format cannot be compared.")
        }
        for (source, frame) in zip(sources, [first, second]) {
            try check(av_frame_ref(scratch, frame.native), .resources, "A frame could not be shared.")
            defer { av_frame_unref(scratch) }
            // The filters pair pictures by time; what pictures belong together is decided by who calls.
            scratch.pointee.pts = count
            // Differing names of the colours would have them converted.
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
        return Self.largest(result.frame)
    }

    private static func largest(_ frame: UnsafeMutablePointer<AVFrame>) -> Double? {
        guard let first = frame.pointee.data.0, frame.pointee.width > 0, frame.pointee.linesize.0 > 0 else {
            return nil
        }
        let (width, stride) = (Int(frame.pointee.width), Int(frame.pointee.linesize.0))
        var largest: UInt8 = 0
        for row in 0..<Int(frame.pointee.height) {
            let values = UnsafeBufferPointer(start: first + row * stride, count: width)
            largest = max(largest, values.max() ?? 0)
        }
        return Double(largest)
    }
}
