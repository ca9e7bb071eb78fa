internal import CFFmpeg

/// What kind of samples a track holds.
public enum MediaType: String, Sendable, Hashable, Codable {
    case video, audio, subtitle, data, attachment, unknown
}

/// What a decoder or a writer must know before the first sample: codec, size, colour, parameter sets.
///
/// An immutable value around libav's `AVCodecParameters`. Two descriptions are equal when a decoder could not tell them apart.
public struct FormatDescription: Sendable, Hashable {
    /// Owns the parameters; never changed after `init`.
    final class Storage: @unchecked Sendable {
        let parameters: UnsafeMutablePointer<AVCodecParameters>
        let attachments: [Attachment]

        init(copying source: UnsafePointer<AVCodecParameters>, attachments: [Attachment]) throws(MediaError) {
            self.attachments = attachments
            guard let parameters = avcodec_parameters_alloc() else {
                throw MediaError(.resources, .outOfMemory, "No memory for a format description.")
            }
            self.parameters = parameters
            try check(avcodec_parameters_copy(parameters, source), .format, "The format could not be copied.")
        }

        deinit {
            var parameters: UnsafeMutablePointer<AVCodecParameters>? = parameters
            avcodec_parameters_free(&parameters)
        }
    }

    let storage: Storage

    /// - Parameter attachments: side data of the whole track, besides what the parameters hold themselves (FFmpeg 6.1 and later).
    init(copying parameters: UnsafePointer<AVCodecParameters>, attachments: [Attachment] = []) throws(MediaError) {
        let own = (0..<weft_parameters_side_data_count(parameters)).compactMap {
            Attachment(weft_parameters_side_data(parameters, $0))
        }
        let kinds = Set(attachments.map(\.kind))
        storage = try Storage(
            copying: parameters, attachments: own.filter { !kinds.contains($0.kind) } + attachments)
    }

    var parameters: UnsafePointer<AVCodecParameters> { UnsafePointer(storage.parameters) }

    /// Side data of the whole track (rotation, mastering display, content light level, Dolby Vision configuration…).
    /// No part of equality: a decoder works without it.
    public var attachments: [Attachment] { storage.attachments }

    public var mediaType: MediaType {
        switch parameters.pointee.codec_type {
        case AVMEDIA_TYPE_VIDEO: .video
        case AVMEDIA_TYPE_AUDIO: .audio
        case AVMEDIA_TYPE_SUBTITLE: .subtitle
        case AVMEDIA_TYPE_DATA: .data
        case AVMEDIA_TYPE_ATTACHMENT: .attachment
        default: .unknown
        }
    }

    /// libavcodec's name of the codec: `h264`, `hevc`, `av1`, `aac`, `mov_text`…
    public var codecName: String { String(cString: avcodec_get_name(parameters.pointee.codec_id)) }

    /// Parameter sets in the container's form (avcC, hvcC, av1C, esds payload, OpusHead…).
    public var extradata: [UInt8] {
        guard let data = parameters.pointee.extradata, parameters.pointee.extradata_size > 0 else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(parameters.pointee.extradata_size)))
    }

    /// Coded picture size in pixels, before sample aspect ratio and rotation.
    public var width: Int { Int(parameters.pointee.width) }
    public var height: Int { Int(parameters.pointee.height) }

    /// libavutil's name of the pixel format (`yuv420p10le`), `nil` where unknown.
    public var pixelFormat: String? {
        guard mediaType == .video, let name = av_get_pix_fmt_name(AVPixelFormat(parameters.pointee.format)) else {
            return nil
        }
        return String(cString: name)
    }

    /// Samples a second; 0 for non-audio.
    public var sampleRate: Int { Int(parameters.pointee.sample_rate) }
    /// Channels of sound; 0 for a picture.
    public var channelCount: Int { max(0, Int(parameters.pointee.ch_layout.nb_channels)) }

    /// Audio samples at the start that are not meant to be heard (encoder delay, pre-skip), where the format tells.
    public var initialPadding: Int { Int(parameters.pointee.initial_padding) }

    /// libavutil's description of the channels: `stereo`, `5.1`; `nil` for non-audio. Channels without an order are given the
    /// usual one for their number.
    public var channelLayout: String? {
        guard mediaType == .audio else { return nil }
        var layout = AVChannelLayout()
        defer { av_channel_layout_uninit(&layout) }
        if parameters.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            av_channel_layout_default(&layout, parameters.pointee.ch_layout.nb_channels)
        } else {
            guard av_channel_layout_copy(&layout, &storage.parameters.pointee.ch_layout) >= 0 else { return nil }
        }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, av_channel_layout_describe(&layout, base, buffer.count) > 0 else {
                return nil
            }
            return String(cString: base)
        }
    }

    /// Pictures by which the coded order can run ahead of presentation, as far as the container or the parser knows.
    public var reorderDepth: Int { Int(parameters.pointee.video_delay) }

    // MARK: Equality

    /// The fields that a decoder can tell apart.
    private struct Identity: Hashable {
        var numbers: [Int64]
        var extradata: [UInt8]
    }

    private var identity: Identity {
        let p = parameters.pointee
        return Identity(
            numbers: [
                Int64(p.codec_type.rawValue), Int64(p.codec_id.rawValue), Int64(p.format), Int64(p.profile),
                Int64(p.width), Int64(p.height), Int64(p.sample_aspect_ratio.num), Int64(p.sample_aspect_ratio.den),
                Int64(p.field_order.rawValue), Int64(p.color_range.rawValue), Int64(p.color_primaries.rawValue),
                Int64(p.color_trc.rawValue), Int64(p.color_space.rawValue), Int64(p.chroma_location.rawValue),
                Int64(p.ch_layout.nb_channels), Int64(p.sample_rate), Int64(p.initial_padding),
            ],
            extradata: extradata)
    }

    public static func == (left: FormatDescription, right: FormatDescription) -> Bool {
        left.storage === right.storage || left.identity == right.identity
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
