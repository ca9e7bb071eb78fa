internal import CFFmpeg

extension Attachment.Kind {
    /// Dolby Vision reference processing unit as it was in the bit stream.
    public static let dolbyVisionRPU = Attachment.Kind(rawValue: "dolby-vision-rpu")
    /// The same parsed: libavutil's `AVDOVIMetadata`.
    public static let dolbyVisionMetadata = Attachment.Kind(rawValue: "dolby-vision-metadata")
    /// GOP timecode (ISO/IEC 13818-2 §6.3.8).
    public static let groupTimecode = Attachment.Kind(rawValue: "gop-timecode")
    /// User data unregistered SEI (H.264, H.265 §D.2.7), UUID first.
    public static let userData = Attachment.Kind(rawValue: "user-data-unregistered")
    public static let filmGrain = Attachment.Kind(rawValue: "film-grain")

    private static let frameTypes: [(AVFrameSideDataType, Attachment.Kind)] = [
        (AV_FRAME_DATA_A53_CC, .captions), (AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, .masteringDisplay),
        (AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, .contentLight), (AV_FRAME_DATA_DYNAMIC_HDR_PLUS, .hdr10Plus),
        (AV_FRAME_DATA_DOVI_RPU_BUFFER, .dolbyVisionRPU), (AV_FRAME_DATA_DOVI_METADATA, .dolbyVisionMetadata),
        (AV_FRAME_DATA_DISPLAYMATRIX, .displayMatrix), (AV_FRAME_DATA_S12M_TIMECODE, .timecode),
        (AV_FRAME_DATA_GOP_TIMECODE, .groupTimecode), (AV_FRAME_DATA_SEI_UNREGISTERED, .userData),
        (AV_FRAME_DATA_AFD, .activeFormat), (AV_FRAME_DATA_STEREO3D, .stereo3D),
        (AV_FRAME_DATA_SPHERICAL, .spherical), (AV_FRAME_DATA_ICC_PROFILE, .iccProfile),
        (AV_FRAME_DATA_FILM_GRAIN_PARAMS, .filmGrain), (AV_FRAME_DATA_SKIP_SAMPLES, .skipSamples),
        (AV_FRAME_DATA_REPLAYGAIN, .replayGain), (AV_FRAME_DATA_AUDIO_SERVICE_TYPE, .audioService),
    ]
    private static let unnamedFrameData = "libav-frame-"

    init(frame type: AVFrameSideDataType) {
        self =
            Self.frameTypes.first { $0.0 == type }?.1 ?? Self(rawValue: "\(Self.unnamedFrameData)\(type.rawValue)")
    }

    /// libav's number for side data of a frame; `nil` for a kind that frames do not carry or this build does not know.
    var frameType: AVFrameSideDataType? {
        if let known = Self.frameTypes.first(where: { $0.1 == self }) { return known.0 }
        guard rawValue.hasPrefix(Self.unnamedFrameData) else { return nil }
        return UInt32(rawValue.dropFirst(Self.unnamedFrameData.count)).map { AVFrameSideDataType($0) }
    }
}

extension Frame {
    /// Number of attachments, without copying any.
    public var attachmentCount: Int { Int(native.pointee.nb_side_data) }

    /// The kinds of the attachments, in the frame's order; no bytes are copied.
    public var attachmentKinds: [Attachment.Kind] {
        (0..<attachmentCount).compactMap { index in
            native.pointee.side_data[index].map { Attachment.Kind(frame: $0.pointee.type) }
        }
    }

    /// Copies of the attachments, in the frame's order.
    public var attachments: [Attachment] {
        (0..<attachmentCount).compactMap { index in native.pointee.side_data[index].map { attachment(from: $0) } }
    }

    /// The first attachment of a kind.
    public func attachment(_ kind: Attachment.Kind) -> Attachment? {
        guard attachmentCount > 0, let type = kind.frameType else { return nil }
        return av_frame_get_side_data(native, type).map { attachment(from: $0) }
    }

    private func attachment(from side: UnsafeMutablePointer<AVFrameSideData>) -> Attachment {
        let count = side.pointee.data == nil ? 0 : side.pointee.size
        return Attachment(
            kind: Attachment.Kind(frame: side.pointee.type),
            bytes: Array(UnsafeBufferPointer(start: side.pointee.data, count: count)))
    }

    /// The same pixels with one more attachment; a former one of the same kind is replaced.
    ///
    /// - Throws: `.format`/`.unsupported` for a kind that frames do not carry, `.resources` without memory.
    public func attaching(_ attachment: Attachment) throws(MediaError) -> Frame {
        guard let type = attachment.kind.frameType else {
            throw MediaError(.format, .unsupported, "A frame cannot carry “\(attachment.kind.rawValue)”.")
        }
        let copy = try Storage()
        try check(av_frame_ref(copy.frame, native), .resources, "The frame could not be shared.")
        av_frame_remove_side_data(copy.frame, type)
        guard let side = av_frame_new_side_data(copy.frame, type, attachment.bytes.count) else {
            throw MediaError(.resources, .outOfMemory, "No memory for an attachment.")
        }
        attachment.bytes.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: side.pointee.data, count: bytes.count).copyMemory(from: bytes)
        }
        return Frame(copy, pts: pts, duration: duration, timeBase: timeBase)
    }
}
