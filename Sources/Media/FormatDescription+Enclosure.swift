internal import CFFmpeg
internal import Foundation

extension FormatDescription {
    /// A picture's format as that of an attached file with these bytes: where libavformat's Matroska muxer takes them from.
    package func asAttachment(_ bytes: [UInt8]) throws(MediaError) -> FormatDescription {
        var parameters = avcodec_parameters_alloc()
        defer { avcodec_parameters_free(&parameters) }
        guard let parameters, let memory = av_mallocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)),
            let size = Int32(exactly: bytes.count)
        else { throw MediaError(.resources, .outOfMemory, "No memory for an attachment.") }
        bytes.withUnsafeBytes { source in
            if let base = source.baseAddress { memcpy(memory, base, source.count) }
        }
        parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = size
        parameters.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
        parameters.pointee.codec_id = self.parameters.pointee.codec_id
        return try FormatDescription(copying: parameters)
    }
}
