internal import CFFmpeg
internal import Foundation

/// A format description as bytes, for the wire and the spool.
///
/// Layout (all numbers little-endian): magic `WFMT`, version (UInt16), then the fields in the order of `archive()`. Names stand
/// where libav's numbers differ between its versions. Everything read is bounded and checked before it is used.
extension FormatDescription {
    private static let magic: [UInt8] = Array("WFMT".utf8)
    private static let version: UInt16 = 1
    private static let maximumExtradata = 8 << 20
    private static let maximumAttachments = 64
    private static let maximumAttachment = 8 << 20
    /// No archive is larger.
    package static let maximumArchive = 32 << 20

    /// Every field of the description, side data included.
    package func archive() -> [UInt8] {
        let p = parameters.pointee
        var out = ArchiveWriter()
        out.raw(Self.magic)
        out.number(Self.version)
        out.text(mediaType.rawValue)
        out.text(codecName)
        out.number(p.codec_tag)
        out.text(Self.formatName(p))
        for value in [
            p.bits_per_coded_sample, p.bits_per_raw_sample, p.profile, p.level, p.width, p.height,
            p.sample_aspect_ratio.num, p.sample_aspect_ratio.den, Int32(bitPattern: p.field_order.rawValue),
            Int32(bitPattern: p.color_range.rawValue), Int32(bitPattern: p.color_primaries.rawValue),
            Int32(bitPattern: p.color_trc.rawValue), Int32(bitPattern: p.color_space.rawValue),
            Int32(bitPattern: p.chroma_location.rawValue), p.video_delay, p.sample_rate, p.block_align, p.frame_size,
            p.initial_padding, p.trailing_padding, p.seek_preroll, weft_parameters_frame_rate(parameters).num,
            weft_parameters_frame_rate(parameters).den,
        ] { out.number(value) }
        out.number(p.bit_rate)
        out.text(Self.layoutName(p))
        out.block(extradata)
        out.number(UInt16(clamping: attachments.count))
        for attachment in attachments.prefix(Self.maximumAttachments) {
            out.text(attachment.kind.rawValue)
            out.block(attachment.bytes)
        }
        return out.bytes
    }

    /// - Throws: `.invalidData` for anything that `archive()` does not write; `.unsupported` for a codec, a pixel format or a version
    ///   that this build does not know.
    package init(archive bytes: [UInt8]) throws(MediaError) {
        _ = CodecLog.installed
        guard bytes.count <= Self.maximumArchive else { throw ArchiveReader.invalid }
        var input = ArchiveReader(bytes)
        guard try input.raw(4) == Self.magic else { throw ArchiveReader.invalid }
        let version: UInt16 = try input.number()
        guard version == Self.version else {
            throw MediaError(.format, .unsupported, "A format description of version \(version) cannot be read.")
        }
        guard let fresh = avcodec_parameters_alloc() else {
            throw MediaError(.resources, .outOfMemory, "No memory for a format description.")
        }
        var parameters: UnsafeMutablePointer<AVCodecParameters>? = fresh
        defer { avcodec_parameters_free(&parameters) }
        try Self.readCodec(&input, into: fresh)
        try Self.readNumbers(&input, into: fresh)
        try Self.readLayout(try input.text(), into: fresh)
        let extradata = try input.block(limit: Self.maximumExtradata)
        let attachments = try Self.readAttachments(&input)
        guard input.isAtEnd else { throw ArchiveReader.invalid }
        try self.init(copying: fresh, attachments: attachments)
        try storage.setExtradata(extradata)
    }

    // MARK: Parts

    private static func readCodec(
        _ input: inout ArchiveReader, into p: UnsafeMutablePointer<AVCodecParameters>
    ) throws(MediaError) {
        guard let type = MediaType(rawValue: try input.text()) else { throw ArchiveReader.invalid }
        p.pointee.codec_type = type.libav
        let codec = try input.text()
        if codec != "none" && codec != "unknown_codec" {
            guard let descriptor = avcodec_descriptor_get_by_name(codec) else {
                throw MediaError(
                    .format, .unsupported, "This build of libavcodec has no codec \"\(codec.prefix(64))\".")
            }
            p.pointee.codec_id = descriptor.pointee.id
        }
        p.pointee.codec_tag = try input.number()
        let name = try input.text()
        p.pointee.format = -1
        guard !name.isEmpty else { return }
        p.pointee.format =
            type == .video ? av_get_pix_fmt(name).rawValue : type == .audio ? av_get_sample_fmt(name).rawValue : -1
        guard p.pointee.format >= 0 else {
            throw MediaError(.format, .unsupported, "This build of libavutil has no format \"\(name.prefix(64))\".")
        }
    }

    private static func readNumbers(
        _ input: inout ArchiveReader, into p: UnsafeMutablePointer<AVCodecParameters>
    ) throws(MediaError) {
        p.pointee.bits_per_coded_sample = try input.number(in: 0...1024)
        p.pointee.bits_per_raw_sample = try input.number(in: 0...1024)
        p.pointee.profile = try input.number()
        p.pointee.level = try input.number()
        p.pointee.width = try input.number(in: 0...(1 << 20))
        p.pointee.height = try input.number(in: 0...(1 << 20))
        p.pointee.sample_aspect_ratio.num = try input.number(in: 0...Int32.max)
        p.pointee.sample_aspect_ratio.den = try input.number(in: 0...Int32.max)
        p.pointee.field_order = AVFieldOrder(UInt32(bitPattern: try input.number(in: 0...255)))
        p.pointee.color_range = AVColorRange(UInt32(bitPattern: try input.number(in: 0...255)))
        p.pointee.color_primaries = AVColorPrimaries(UInt32(bitPattern: try input.number(in: 0...255)))
        p.pointee.color_trc = AVColorTransferCharacteristic(UInt32(bitPattern: try input.number(in: 0...255)))
        p.pointee.color_space = AVColorSpace(UInt32(bitPattern: try input.number(in: 0...255)))
        p.pointee.chroma_location = AVChromaLocation(UInt32(bitPattern: try input.number(in: 0...255)))
        p.pointee.video_delay = try input.number(in: 0...1024)
        p.pointee.sample_rate = try input.number(in: 0...Int32.max)
        p.pointee.block_align = try input.number(in: 0...Int32.max)
        p.pointee.frame_size = try input.number(in: 0...Int32.max)
        p.pointee.initial_padding = try input.number(in: 0...Int32.max)
        p.pointee.trailing_padding = try input.number(in: 0...Int32.max)
        p.pointee.seek_preroll = try input.number(in: 0...Int32.max)
        let rate = AVRational(num: try input.number(in: 0...Int32.max), den: try input.number(in: 0...Int32.max))
        weft_parameters_set_frame_rate(p, rate)
        p.pointee.bit_rate = try input.number()
    }

    private static func readLayout(
        _ name: String, into p: UnsafeMutablePointer<AVCodecParameters>
    ) throws(MediaError) {
        guard !name.isEmpty else { return }
        let unordered = name.hasSuffix("!") ? Int32(name.dropLast()) : nil
        if let unordered, (1...1024).contains(unordered) {
            p.pointee.ch_layout.order = AV_CHANNEL_ORDER_UNSPEC
            p.pointee.ch_layout.nb_channels = unordered
        } else {
            try check(
                av_channel_layout_from_string(&p.pointee.ch_layout, name), .format, "\"\(name)\" is no channel layout.")
        }
    }

    private static func readAttachments(_ input: inout ArchiveReader) throws(MediaError) -> [Attachment] {
        let count: UInt16 = try input.number()
        guard count <= maximumAttachments else { throw ArchiveReader.invalid }
        var attachments: [Attachment] = []
        for _ in 0..<count {
            let kind = Attachment.Kind(rawValue: try input.text())
            attachments.append(Attachment(kind: kind, bytes: try input.block(limit: maximumAttachment)))
        }
        return attachments
    }

    private static func formatName(_ p: AVCodecParameters) -> String {
        let name: UnsafePointer<CChar>? =
            switch p.codec_type {
            case AVMEDIA_TYPE_VIDEO: av_get_pix_fmt_name(AVPixelFormat(p.format))
            case AVMEDIA_TYPE_AUDIO: av_get_sample_fmt_name(AVSampleFormat(p.format))
            default: nil
            }
        return name.map { String(cString: $0) } ?? ""
    }

    /// libavutil's description; a layout without an order is its number of channels and "!".
    private static func layoutName(_ p: AVCodecParameters) -> String {
        guard p.ch_layout.nb_channels > 0 else { return "" }
        if p.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC { return "\(p.ch_layout.nb_channels)!" }
        var layout = p.ch_layout
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
            guard let base = buffer.baseAddress, av_channel_layout_describe(&layout, base, buffer.count) > 0 else {
                return "\(p.ch_layout.nb_channels)!"
            }
            return String(cString: base)
        }
    }
}

extension MediaType {
    var libav: AVMediaType {
        switch self {
        case .video: AVMEDIA_TYPE_VIDEO
        case .audio: AVMEDIA_TYPE_AUDIO
        case .subtitle: AVMEDIA_TYPE_SUBTITLE
        case .data: AVMEDIA_TYPE_DATA
        case .attachment: AVMEDIA_TYPE_ATTACHMENT
        case .unknown: AVMEDIA_TYPE_UNKNOWN
        }
    }
}

private struct ArchiveWriter {
    private(set) var bytes: [UInt8] = []

    mutating func raw(_ bytes: [UInt8]) { self.bytes += bytes }

    mutating func number<Number: FixedWidthInteger>(_ value: Number) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func block(_ block: [UInt8]) {
        number(UInt32(clamping: block.count))
        bytes += block
    }

    mutating func text(_ text: String) {
        let utf8 = Array(text.utf8.prefix(Int(UInt8.max)))
        number(UInt8(utf8.count))
        bytes += utf8
    }
}

private struct ArchiveReader {
    static let invalid = MediaError(.format, .invalidData, "These bytes are not a format description.")

    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func raw(_ count: Int) throws(MediaError) -> [UInt8] {
        guard count >= 0, count <= bytes.count - offset else { throw Self.invalid }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    mutating func number<Number: FixedWidthInteger>() throws(MediaError) -> Number {
        let width = Number.bitWidth / 8
        guard width <= bytes.count - offset else { throw Self.invalid }
        defer { offset += width }
        return bytes.withUnsafeBytes {
            Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self))
        }
    }

    mutating func number(in range: ClosedRange<Int32>) throws(MediaError) -> Int32 {
        let value: Int32 = try number()
        guard range.contains(value) else { throw Self.invalid }
        return value
    }

    mutating func block(limit: Int) throws(MediaError) -> [UInt8] {
        let count: UInt32 = try number()
        guard count <= limit else { throw Self.invalid }
        return try raw(Int(count))
    }

    mutating func text() throws(MediaError) -> String {
        let count: UInt8 = try number()
        guard let text = String(validating: try raw(Int(count)), as: UTF8.self) else { throw Self.invalid }
        return text
    }
}
