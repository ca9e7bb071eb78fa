internal import CFFmpeg

/// How an encoder is let go at any point of its life.
enum EncoderClosing {
    /// Frees the encoder, whether or not it has seen a frame or its end.
    ///
    /// - Parameter hasEnded: the end was sent to it.
    static func close(_ context: UnsafeMutablePointer<AVCodecContext>, hasFrames: Bool, hasEnded: Bool) {
        if !hasEnded, avcodec_is_open(context) != 0, context.pointee.codec.map({ SVTSessions.include($0) }) == true {
            if !hasFrames { sendBlank(to: context) }
            end(context)
        }
        let codec = context.pointee.codec
        SVTSessions.alone(codec) {
            var context: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&context)
        }
    }

    /// SVT-AV1 1.4 waits for ever when it is closed before its first picture, and complains on standard error when closed
    /// without its end.
    private static func sendBlank(to context: UnsafeMutablePointer<AVCodecContext>) {
        var frame = av_frame_alloc()
        defer { av_frame_free(&frame) }
        guard let frame else { return }
        frame.pointee.width = context.pointee.width
        frame.pointee.height = context.pointee.height
        frame.pointee.format = context.pointee.pix_fmt.rawValue
        frame.pointee.pts = 0
        guard av_frame_get_buffer(frame, 0) >= 0 else { return }
        for plane in 0..<3 {
            guard let layout = planeLayout(of: frame, plane), let base = planeBase(of: frame, plane) else { continue }
            base.initialize(repeating: 0, count: layout.stride * layout.rows)
        }
        _ = avcodec_send_frame(context, frame)
    }

    private static func end(_ context: UnsafeMutablePointer<AVCodecContext>) {
        var packet = av_packet_alloc()
        defer { av_packet_free(&packet) }
        guard let packet, avcodec_send_frame(context, nil) >= 0 else { return }
        while avcodec_receive_packet(context, packet) >= 0 { av_packet_unref(packet) }
    }
}
