internal import CFFmpeg
internal import Foundation

extension FormatDescription {
    /// libav knows what the codec is.
    var isKnown: Bool { parameters.pointee.codec_id != AV_CODEC_ID_NONE || mediaType == .data }

    /// The same format with other parameter sets, as after a change in the middle of a track.
    package func replacingExtradata(_ bytes: [UInt8]) throws(MediaError) -> FormatDescription {
        guard bytes.count < 1 << 24 else {
            throw MediaError(.format, .invalidData, "Parameter sets of \(bytes.count) bytes are not credible.")
        }
        let copy = try FormatDescription(copying: parameters, attachments: attachments)
        try copy.storage.setExtradata(bytes)
        return copy
    }
}

extension FormatDescription.Storage {
    /// Only before the storage is shared.
    func setExtradata(_ bytes: [UInt8]) throws(MediaError) {
        av_freep(&parameters.pointee.extradata)
        parameters.pointee.extradata_size = 0
        guard !bytes.isEmpty else { return }
        guard let data = av_mallocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
            throw MediaError(.resources, .outOfMemory, "No memory for parameter sets.")
        }
        bytes.withUnsafeBytes { source in
            if let base = source.baseAddress { memcpy(data, base, source.count) }
        }
        parameters.pointee.extradata = data.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = Int32(bytes.count)
    }
}
