internal import CFFmpeg
internal import Foundation

/// Gives decoders buffers that hold nothing of older pictures.
///
/// libavcodec reuses its buffers, and what a decoder leaves undecoded in a damaged picture (H.265 has no concealment there) would
/// show whatever was in the buffer before: it would depend on where decoding began. Mid grey costs a pass over the memory, little
/// beside the decoding itself.
enum NeutralBuffers {
    static let allocate:
        @convention(c) (UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?, Int32) -> Int32 = {
            context, frame, flags in
            let code = avcodec_default_get_buffer2(context, frame, flags)
            guard code >= 0, let frame, frame.pointee.hw_frames_ctx == nil,
                let format = av_pix_fmt_desc_get(AVPixelFormat(frame.pointee.format))
            else { return code }
            // In both bytes of a wider sample this is near the middle as well, and never beyond the greatest value.
            let grey = Int32(1) << ((max(1, format.pointee.comp.0.depth) - 1) % 8)
            withUnsafePointer(to: &frame.pointee.buf) { list in
                list.withMemoryRebound(to: UnsafeMutablePointer<AVBufferRef>?.self, capacity: 8) { buffers in
                    for index in 0..<8 {
                        guard let buffer = buffers[index], let data = buffer.pointee.data else { continue }
                        memset(data, grey, Int(buffer.pointee.size))
                    }
                }
            }
            return code
        }
}
