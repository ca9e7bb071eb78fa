internal import CFFmpeg
internal import Foundation
public import MediaTime

/// What travels beside the samples of a track, beside one sample or beside one frame: HDR, rotation, captions, skipped samples…
///
/// The bytes are libav's own structures in the byte order of this processor; nodes of one job share it.
public struct Attachment: Sendable, Hashable {
    /// A name that does not change between versions of libav, whose numbers do.
    public struct Kind: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nine 32-bit numbers, ISO/IEC 14496-12 §8.3.2.
        public static let displayMatrix = Kind(rawValue: "display-matrix")
        public static let masteringDisplay = Kind(rawValue: "mastering-display")
        public static let contentLight = Kind(rawValue: "content-light-level")
        public static let dolbyVision = Kind(rawValue: "dolby-vision-configuration")
        public static let hdr10Plus = Kind(rawValue: "hdr10-plus")
        public static let stereo3D = Kind(rawValue: "stereo-3d")
        public static let spherical = Kind(rawValue: "spherical")
        public static let iccProfile = Kind(rawValue: "icc-profile")
        public static let captions = Kind(rawValue: "a53-captions")
        /// What the container has cut off before pictures are shown, four numbers of 32 bits; known since FFmpeg 7.1.
        public static let frameCropping = Kind(rawValue: "frame-cropping")
        public static let activeFormat = Kind(rawValue: "active-format")
        public static let timecode = Kind(rawValue: "s12m-timecode")
        /// Samples to drop at the start and the end of a packet of audio (priming and padding).
        public static let skipSamples = Kind(rawValue: "skip-samples")
        /// New parameter sets from this sample on.
        public static let newExtradata = Kind(rawValue: "new-extradata")
        public static let parameterChange = Kind(rawValue: "parameter-change")
        public static let palette = Kind(rawValue: "palette")
        public static let blockAdditional = Kind(rawValue: "matroska-block-additional")
        public static let webVTTIdentifier = Kind(rawValue: "webvtt-identifier")
        public static let webVTTSettings = Kind(rawValue: "webvtt-settings")
        public static let encryptionInitialization = Kind(rawValue: "encryption-initialization")
        public static let encryption = Kind(rawValue: "encryption")
        public static let replayGain = Kind(rawValue: "replay-gain")
        public static let audioService = Kind(rawValue: "audio-service-type")
        public static let codedBuffer = Kind(rawValue: "coded-picture-buffer")
        public static let transportStreamID = Kind(rawValue: "mpeg-ts-stream-id")
        public static let producerTime = Kind(rawValue: "producer-reference-time")
    }

    public let kind: Kind
    public let bytes: [UInt8]

    public init(kind: Kind, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    /// Sound of a packet that is not to be heard, in samples from its start and from its end.
    package static func skippingSamples(start: UInt32, end: UInt32) -> Attachment {
        let bytes = [start, end].flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        return Attachment(kind: .skipSamples, bytes: bytes + [0, 0])
    }

    /// The number at the start of a packet, where this says so (little-endian, libavcodec/packet.h).
    package var samplesSkippedAtStart: Int64? { skipped(at: 0) }
    /// The same at its end.
    package var samplesSkippedAtEnd: Int64? { skipped(at: 4) }

    private func skipped(at offset: Int) -> Int64? {
        guard kind == .skipSamples, bytes.count >= 8 else { return nil }
        return bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }

    init?(_ data: UnsafePointer<AVPacketSideData>?) {
        guard let data = data?.pointee else { return nil }
        kind = Kind(packet: data.type)
        bytes = data.data.map { Array(UnsafeBufferPointer(start: $0, count: data.size)) } ?? []
    }
}

extension Attachment.Kind {
    private static let packetTypes: [(AVPacketSideDataType, Attachment.Kind)] = [
        (AV_PKT_DATA_DISPLAYMATRIX, .displayMatrix), (AV_PKT_DATA_MASTERING_DISPLAY_METADATA, .masteringDisplay),
        (AV_PKT_DATA_CONTENT_LIGHT_LEVEL, .contentLight), (AV_PKT_DATA_DOVI_CONF, .dolbyVision),
        (AV_PKT_DATA_DYNAMIC_HDR10_PLUS, .hdr10Plus), (AV_PKT_DATA_STEREO3D, .stereo3D),
        (AV_PKT_DATA_SPHERICAL, .spherical), (AV_PKT_DATA_ICC_PROFILE, .iccProfile),
        (AV_PKT_DATA_A53_CC, .captions), (AV_PKT_DATA_AFD, .activeFormat), (AV_PKT_DATA_S12M_TIMECODE, .timecode),
        (AV_PKT_DATA_SKIP_SAMPLES, .skipSamples), (AV_PKT_DATA_NEW_EXTRADATA, .newExtradata),
        (AV_PKT_DATA_PARAM_CHANGE, .parameterChange), (AV_PKT_DATA_PALETTE, .palette),
        (AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, .blockAdditional),
        (AV_PKT_DATA_WEBVTT_IDENTIFIER, .webVTTIdentifier), (AV_PKT_DATA_WEBVTT_SETTINGS, .webVTTSettings),
        (AV_PKT_DATA_ENCRYPTION_INIT_INFO, .encryptionInitialization), (AV_PKT_DATA_ENCRYPTION_INFO, .encryption),
        (AV_PKT_DATA_REPLAYGAIN, .replayGain), (AV_PKT_DATA_AUDIO_SERVICE_TYPE, .audioService),
        (AV_PKT_DATA_CPB_PROPERTIES, .codedBuffer), (AV_PKT_DATA_MPEGTS_STREAM_ID, .transportStreamID),
        (AV_PKT_DATA_PRFT, .producerTime), (weft_frame_cropping(), .frameCropping),
    ].filter { $0.0 != AV_PKT_DATA_NB }
    private static let unnamed = "libav-packet-"

    init(packet type: AVPacketSideDataType) {
        self = Self.packetTypes.first { $0.0 == type }?.1 ?? Self(rawValue: "\(Self.unnamed)\(type.rawValue)")
    }

    /// libav's number for side data of a packet or a stream; `nil` for a kind that this build does not know.
    var packetType: AVPacketSideDataType? {
        if let known = Self.packetTypes.first(where: { $0.1 == self }) { return known.0 }
        guard rawValue.hasPrefix(Self.unnamed), let number = UInt32(rawValue.dropFirst(Self.unnamed.count)),
            number < AV_PKT_DATA_NB.rawValue
        else { return nil }
        return AVPacketSideDataType(number)
    }
}

extension Sample {
    /// Side data of this sample.
    public var attachments: [Attachment] {
        let packet = storage.packet
        return (0..<Int(packet.pointee.side_data_elems)).compactMap { index in
            packet.pointee.side_data.flatMap { Attachment($0 + index) }
        }
    }

    /// A sample from bytes that came from elsewhere, with everything a sample can carry. The bytes are copied.
    ///
    /// Attachments of a kind that this build of libav does not know are an error: they are not dropped in silence.
    public init(
        bytes: UnsafeRawBufferPointer, format: FormatDescription, timeBase: TimeBase, pts: Int64?, dts: Int64?,
        duration: Int64, isSync: Bool, isDiscarded: Bool, isCorrupt: Bool = false, attachments: [Attachment],
        track: Int = 0
    ) throws(MediaError) {
        let plain = try Sample(
            bytes: bytes, format: format, timeBase: timeBase, pts: pts, dts: dts, duration: duration, isSync: isSync,
            track: track)
        let packet = plain.storage.packet
        if isDiscarded { packet.pointee.flags |= AV_PKT_FLAG_DISCARD }
        if isCorrupt { packet.pointee.flags |= AV_PKT_FLAG_CORRUPT }
        try Self.attach(attachments, to: packet)
        self = plain
    }

    /// The same bytes and times with more attachments (one of a kind replaces the older one); the bytes are not copied.
    public func adding(_ attachments: [Attachment]) throws(MediaError) -> Sample {
        guard let packet = av_packet_clone(storage.packet) else {
            throw MediaError(.resources, .outOfMemory, "No memory for a sample's attachments.")
        }
        packet.pointee.pts = pts ?? weft_no_pts()
        packet.pointee.dts = dts ?? weft_no_pts()
        packet.pointee.duration = duration
        let copy = Sample(adopting: packet, track: track, format: format, timeBase: timeBase)
        try Self.attach(attachments, to: packet)
        return copy
    }

    /// The same sample, marked as needed for decoding only; the bytes are not copied.
    package func discarded() throws(MediaError) -> Sample {
        let copy = try adding([])
        copy.storage.packet.pointee.flags |= AV_PKT_FLAG_DISCARD
        return copy
    }

    private static func attach(_ attachments: [Attachment], to packet: UnsafeMutablePointer<AVPacket>)
        throws(MediaError)
    {
        for attachment in attachments {
            guard let type = attachment.kind.packetType else {
                throw MediaError(
                    .format, .unsupported, "This build of libav has no side data \"\(attachment.kind.rawValue)\".")
            }
            guard let data = av_packet_new_side_data(packet, type, attachment.bytes.count) else {
                throw MediaError(.resources, .outOfMemory, "No memory for a sample's attachments.")
            }
            attachment.bytes.withUnsafeBytes { bytes in
                if let base = bytes.baseAddress { memcpy(data, base, bytes.count) }
            }
        }
    }
}
