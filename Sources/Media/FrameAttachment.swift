internal import CFFmpeg

/// Side data of a frame: HDR metadata, captions, timecode, Dolby Vision RPU… It travels with the frame through filter and encoder.
public struct FrameAttachment: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// CEA-608/708 captions in ATSC A/53 Part 4 `cc_data` triplets.
        case captions
        /// SMPTE ST 2086, libavutil's `AVMasteringDisplayMetadata`.
        case masteringDisplay
        /// CTA-861.3 MaxCLL and MaxFALL, libavutil's `AVContentLightMetadata`.
        case contentLight
        /// SMPTE ST 2094-40 (HDR10+), libavutil's `AVDynamicHDRPlus`.
        case dynamicHDRPlus
        /// Dolby Vision reference processing unit as it was in the bit stream.
        case dolbyVisionRPU
        /// Dolby Vision metadata parsed, libavutil's `AVDOVIMetadata`.
        case dolbyVisionMetadata
        /// 3×3 matrix of ISO/IEC 14496-12 §8.5.2 in 16.16 fixed point.
        case displayMatrix
        /// SMPTE ST 12-1 timecodes.
        case timecode
        /// GOP timecode (ISO/IEC 13818-2 §6.3.8).
        case groupTimecode
        /// User data unregistered SEI (H.264/H.265 §D.2.7), UUID first.
        case userData
        /// Active format description (SMPTE ST 2016-1).
        case activeFormat
        case stereo3D
        case spherical
        case iccProfile
        case filmGrain
        case other
    }

    public var kind: Kind
    /// libavutil's structure or the bit stream's own bytes, as said at the kind. Only valid for the libav that made them.
    public var bytes: [UInt8]

    public init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}

extension FrameAttachment.Kind {
    private static let table: [(FrameAttachment.Kind, AVFrameSideDataType)] = [
        (.captions, AV_FRAME_DATA_A53_CC), (.masteringDisplay, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA),
        (.contentLight, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL), (.dynamicHDRPlus, AV_FRAME_DATA_DYNAMIC_HDR_PLUS),
        (.dolbyVisionRPU, AV_FRAME_DATA_DOVI_RPU_BUFFER), (.dolbyVisionMetadata, AV_FRAME_DATA_DOVI_METADATA),
        (.displayMatrix, AV_FRAME_DATA_DISPLAYMATRIX), (.timecode, AV_FRAME_DATA_S12M_TIMECODE),
        (.groupTimecode, AV_FRAME_DATA_GOP_TIMECODE), (.userData, AV_FRAME_DATA_SEI_UNREGISTERED),
        (.activeFormat, AV_FRAME_DATA_AFD), (.stereo3D, AV_FRAME_DATA_STEREO3D),
        (.spherical, AV_FRAME_DATA_SPHERICAL), (.iccProfile, AV_FRAME_DATA_ICC_PROFILE),
        (.filmGrain, AV_FRAME_DATA_FILM_GRAIN_PARAMS),
    ]

    init(_ type: AVFrameSideDataType) { self = Self.table.first { $0.1 == type }?.0 ?? .other }

    var type: AVFrameSideDataType? { Self.table.first { $0.0 == self }?.1 }
}

extension Frame {
    /// Number of attachments, without copying any.
    public var attachmentCount: Int { Int(native.pointee.nb_side_data) }

    /// The kinds of the attachments, in the frame's order; no bytes are copied.
    public var attachmentKinds: [FrameAttachment.Kind] {
        (0..<attachmentCount).compactMap { index in
            native.pointee.side_data[index].map { FrameAttachment.Kind($0.pointee.type) }
        }
    }

    /// Copies of the attachments, in the frame's order.
    public var attachments: [FrameAttachment] {
        (0..<attachmentCount).compactMap { index in
            guard let side = native.pointee.side_data[index] else { return nil }
            let bytes = UnsafeBufferPointer(
                start: side.pointee.data, count: side.pointee.data == nil ? 0 : side.pointee.size)
            return FrameAttachment(FrameAttachment.Kind(side.pointee.type), Array(bytes))
        }
    }

    /// The same pixels with one more attachment; a former one of the same kind is replaced.
    ///
    /// - Throws: `.format`/`.invalidSettings` for kind `.other`, `.resources` without memory.
    public func attaching(_ attachment: FrameAttachment) throws(MediaError) -> Frame {
        guard let type = attachment.kind.type else {
            throw MediaError(.format, .invalidSettings, "An attachment of unknown kind cannot be added to a frame.")
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
