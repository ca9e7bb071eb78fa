internal import CFFmpeg
public import MediaTime

/// One track of an asset: what it holds and when. A value; reading it does no I/O.
public struct Track: Sendable, Identifiable {
    /// What a track is for, in libavformat's bits (they are part of its stable interface).
    public struct Disposition: OptionSet, Sendable, Hashable, Codable {
        public let rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        public static let `default` = Disposition(rawValue: 1 << 0)
        public static let dub = Disposition(rawValue: 1 << 1)
        public static let original = Disposition(rawValue: 1 << 2)
        public static let commentary = Disposition(rawValue: 1 << 3)
        public static let lyrics = Disposition(rawValue: 1 << 4)
        public static let karaoke = Disposition(rawValue: 1 << 5)
        public static let forced = Disposition(rawValue: 1 << 6)
        public static let hearingImpaired = Disposition(rawValue: 1 << 7)
        public static let visualImpaired = Disposition(rawValue: 1 << 8)
        public static let cleanEffects = Disposition(rawValue: 1 << 9)
        /// A cover picture: one sample without a time of its own.
        public static let attachedPicture = Disposition(rawValue: 1 << 10)
        public static let timedThumbnails = Disposition(rawValue: 1 << 11)
        public static let captions = Disposition(rawValue: 1 << 16)
        public static let descriptions = Disposition(rawValue: 1 << 17)
        public static let metadata = Disposition(rawValue: 1 << 18)
        public static let dependent = Disposition(rawValue: 1 << 19)
        public static let stillImage = Disposition(rawValue: 1 << 20)
    }

    public enum FieldOrder: String, Sendable, Hashable, Codable {
        case unknown, progressive
        /// Coded and shown top field first.
        case topFirst
        case bottomFirst
        /// Coded top field first, shown bottom field first.
        case topCodedBottomShown
        case bottomCodedTopShown
    }

    /// Pixels.
    public struct Size: Sendable, Hashable, Codable {
        public var width: Int
        public var height: Int

        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// Position among the asset's tracks, from 0; `Sample.track` refers to it.
    public let index: Int
    /// The container's own number (track ID, PID).
    public let id: Int32
    /// The first sample's format; samples further on may carry another one.
    public let format: FormatDescription
    /// Unit of `startTicks` and `durationTicks` and of the samples' times.
    public let timeBase: TimeBase
    /// Presentation time of the first sample, as far as the container tells.
    public let startTicks: Int64?
    /// Length of the presentation, as far as the container tells.
    public let durationTicks: Int64?
    /// All bits set: a movie's word for a length that is not known (ISO/IEC 14496-12 §8.2.2.3, §8.4.2.3).
    static let untold = Int64(UInt32.max)
    /// Frames over duration, in frames a second; `nil` where unknown.
    public let averageFrameRate: Rational?
    /// The lowest rate at which every timestamp can be told: libav's guess, half-right for variable rates. `nil` where the guess
    /// is but the time base, such as 1000 in Matroska: that says how times are written, not how fast pictures follow.
    public let realFrameRate: Rational?
    /// Width of a pixel over its height. The container's word goes before the codec's.
    public let sampleAspectRatio: Rational?
    /// Of interlaced pictures.
    public let fieldOrder: FieldOrder
    public let disposition: Disposition
    /// Tags of the track.
    public let metadata: Metadata
    /// The container's count, `nil` where it does not say.
    public let sampleCount: Int64?
    /// How the track's media time maps to presentation time (the edit list), in presentation order.
    public let segments: [TrackSegment]
    /// The samples are encrypted: nothing of them can be decoded here.
    public let isEncrypted: Bool

    public var mediaType: MediaType { format.mediaType }
    /// BCP 47 or ISO 639-2, as the file says; `nil` for none and for "und".
    public var language: String? { metadata["language"].flatMap { $0 == "und" || $0.isEmpty ? nil : $0 } }
    /// Side data of the whole track.
    public var attachments: [Attachment] { format.attachments }
}

extension Track {
    init(_ stream: UnsafePointer<AVStream>, segments: [TrackSegment], isEncrypted: Bool?) throws(MediaError) {
        let s = stream.pointee
        guard let parameters = s.codecpar,
            let timeBase = TimeBase(numerator: s.time_base.num, denominator: s.time_base.den)
        else { throw MediaError(.timing, .invalidData, "Track \(s.index) has no usable time base.") }
        let sideData = (0..<weft_stream_side_data_count(stream)).compactMap {
            Attachment(weft_stream_side_data(stream, $0))
        }
        index = Int(s.index)
        id = s.id
        format = try FormatDescription(copying: parameters, attachments: sideData)
        self.timeBase = timeBase
        startTicks = s.start_time == weft_no_pts() ? nil : s.start_time
        let isTold = s.duration != weft_no_pts() && s.duration > 0 && s.duration != Self.untold
        durationTicks = isTold ? s.duration : nil
        averageFrameRate = Self.frameRate(s.avg_frame_rate, tick: s.time_base)
        realFrameRate = Self.frameRate(s.r_frame_rate, tick: s.time_base)
        sampleAspectRatio =
            Rational(known: s.sample_aspect_ratio) ?? Rational(known: parameters.pointee.sample_aspect_ratio)
        fieldOrder = FieldOrder(parameters.pointee.field_order)
        disposition = Disposition(rawValue: s.disposition)
        metadata = Metadata(s.metadata)
        sampleCount = s.nb_frames > 0 ? s.nb_frames : nil
        self.segments = segments
        self.isEncrypted = isEncrypted ?? Self.looksEncrypted(format: format, metadata: metadata)
    }

    private static func frameRate(_ rate: AVRational, tick: AVRational) -> Rational? {
        guard let rate = Rational(known: rate) else { return nil }
        let isTimeBase = rate.numerator == tick.den && rate.denominator == tick.num
        return isTimeBase && rate.approximation > 480 ? nil : rate
    }

    /// Common encryption renames the sample entry (ISO/IEC 14496-12 §8.12) and Matroska names the key.
    private static func looksEncrypted(format: FormatDescription, metadata: Metadata) -> Bool {
        ["encv", "enca", "enct", "encs", "drmi", "drms"].contains(format.codecTag)
            || metadata["enc_key_id"] != nil
            || format.attachments.contains { $0.kind == .encryptionInitialization || $0.kind == .encryption }
    }

    /// The display matrix, ISO/IEC 14496-12 §8.3.2: nine numbers, row by row; `nil` for none.
    public var transform: [Int32]? {
        guard let bytes = attachments.first(where: { $0.kind == .displayMatrix })?.bytes, bytes.count >= 36 else {
            return nil
        }
        return bytes.withUnsafeBytes { buffer in
            (0..<9).map { buffer.loadUnaligned(fromByteOffset: $0 * 4, as: Int32.self) }
        }
    }

    /// Degrees by which to turn the picture clockwise before it is shown, from 0 up to 360.
    public var rotation: Double {
        guard let transform else { return 0 }
        let degrees = transform.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { av_display_rotation_get($0) } ?? 0
        }
        guard degrees.isFinite else { return 0 }
        let clockwise = -degrees
        return clockwise < 0 ? clockwise + 360 : clockwise + 0
    }

    /// Size in square pixels before the rotation: the coded size, made wider by the sample aspect ratio.
    public var naturalSize: Size {
        guard let aspect = sampleAspectRatio, format.width > 0, format.width < 1 << 24 else {
            return Size(width: format.width, height: format.height)
        }
        let width = Int64(format.width) * Int64(aspect.numerator)
        let denominator = Int64(aspect.denominator)
        return Size(width: Int((width + denominator / 2) / denominator), height: format.height)
    }
}

extension Track.FieldOrder {
    init(_ order: AVFieldOrder) {
        self =
            switch order {
            case AV_FIELD_PROGRESSIVE: .progressive
            case AV_FIELD_TT: .topFirst
            case AV_FIELD_BB: .bottomFirst
            case AV_FIELD_TB: .topCodedBottomShown
            case AV_FIELD_BT: .bottomCodedTopShown
            default: .unknown
            }
    }
}

extension FormatDescription {
    /// The container's four-character code (`avc1`, `hvc1`, `encv`); empty where there is none.
    public var codecTag: String {
        let tag = parameters.pointee.codec_tag
        guard tag != 0 else { return "" }
        return String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: tag >> ($0 * 8)) }, as: UTF8.self)
    }
}
