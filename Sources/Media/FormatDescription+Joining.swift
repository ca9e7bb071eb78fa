internal import CFFmpeg

/// Whether samples of two encodings may follow each other in one track.
extension FormatDescription {
    package enum Joining: Hashable, Sendable {
        case equal
        /// With the parameter sets of each run in front of its first picture, which is what `avc3` and `hev1` are for
        /// (ISO/IEC 14496-15 §5.4.2, §8.4.1). AV1 has its sequence header there anyway (AV1-ISOBMFF §2.4).
        case inBand
        /// What differs, in words.
        case impossible(String)
    }

    package func joining(_ other: FormatDescription) -> Joining {
        let (a, b) = (parameters.pointee, other.parameters.pointee)
        // ProRes tells its profile by the name of the sample entry alone.
        guard a.codec_tag == b.codec_tag else { return .impossible("the profile") }
        if self == other { return .equal }
        let differences = [
            (a.codec_id != b.codec_id, "the codec"),
            (a.width != b.width || a.height != b.height, "the frame size"),
            (a.format != b.format, "the pixel format"),
            (Rational(known: a.sample_aspect_ratio) != Rational(known: b.sample_aspect_ratio), "the pixel aspect"),
            (a.field_order != b.field_order, "the field order"),
            (
                a.color_range != b.color_range || a.color_primaries != b.color_primaries || a.color_trc != b.color_trc
                    || a.color_space != b.color_space || a.chroma_location != b.chroma_location, "the colour"
            ),
        ]
        if let difference = differences.first(where: \.0) { return .impossible(difference.1) }
        switch a.codec_id {
        case AV_CODEC_ID_AV1: return .inBand
        case AV_CODEC_ID_H264, AV_CODEC_ID_HEVC:
            guard lengthOfNALSize == other.lengthOfNALSize else { return .impossible("the framing of the samples") }
            return .inBand
        default: return .impossible(a.profile == b.profile ? "the decoder's configuration" : "the profile")
        }
    }

    /// The name of a movie's sample entry whose parameter sets may also be in the samples; `nil` where the usual name says so.
    package var inBandSampleEntry: String? {
        switch parameters.pointee.codec_id {
        case AV_CODEC_ID_H264: "avc3"
        case AV_CODEC_ID_HEVC: "hev1"
        default: nil
        }
    }

    /// Bytes of the length in front of each NAL unit; `nil` where start codes part them (Rec. ITU-T H.264 Annex B).
    fileprivate var lengthOfNALSize: Int? {
        let data = extradata
        guard data.first == 1 else { return nil }
        switch parameters.pointee.codec_id {
        case AV_CODEC_ID_H264: return data.count > 4 ? Int(data[4] & 3) + 1 : nil
        case AV_CODEC_ID_HEVC: return data.count > 21 ? Int(data[21] & 3) + 1 : nil
        default: return nil
        }
    }

    /// The parameter sets as NAL units in the samples' own framing; empty where there are none to be carried.
    fileprivate func framedParameterSets() throws(MediaError) -> [UInt8] {
        let codec = parameters.pointee.codec_id
        guard codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC else { return [] }
        guard let length = lengthOfNALSize else { return extradata }
        var framed: [UInt8] = []
        for unit in try ConfigurationRecord(extradata).units(isHEVC: codec == AV_CODEC_ID_HEVC) {
            framed += (0..<length).reversed().map { UInt8(truncatingIfNeeded: unit.count >> ($0 * 8)) } + unit
        }
        return framed
    }
}

extension Sample {
    /// The same sample with its format's parameter sets in front of the picture, behind an access unit delimiter if there is one
    /// (Rec. ITU-T H.264 §7.4.1.2.3).
    package func carryingParameterSets() throws(MediaError) -> Sample {
        let sets = try format.framedParameterSets()
        guard !sets.isEmpty else { return self }
        let joined = withUnsafeBytes { bytes in
            let delimiter = delimiterSize(bytes)
            return Array(bytes[..<delimiter]) + sets + Array(bytes[delimiter...])
        }
        return try withBytes(joined)
    }

    /// Other bytes with the same times and attachments.
    package func withBytes(_ content: [UInt8]) throws(MediaError) -> Sample {
        var result: Result<Sample, MediaError> = .success(self)
        content.withUnsafeBytes { bytes in
            result = Result { () throws(MediaError) in
                try Sample(
                    bytes: bytes, format: format, timeBase: timeBase, pts: pts, dts: dts, duration: duration,
                    isSync: isSync, track: track)
            }
        }
        let fresh = try result.get()
        try check(
            av_packet_copy_props(fresh.storage.packet, storage.packet), .resources, "No memory for a sample.")
        return fresh
    }

    private func delimiterSize(_ bytes: UnsafeRawBufferPointer) -> Int {
        let isHEVC = format.parameters.pointee.codec_id == AV_CODEC_ID_HEVC
        func isDelimiter(_ header: UInt8) -> Bool { isHEVC ? header >> 1 & 63 == 35 : header & 31 == 9 }
        if let length = format.lengthOfNALSize {
            guard bytes.count > length, isDelimiter(bytes[length]) else { return 0 }
            let end = bytes[..<length].reduce(0) { $0 << 8 | Int($1) } + length
            return end <= bytes.count ? end : 0
        }
        guard let start = bytes.prefix(5).firstIndex(of: 1), start + 1 < bytes.count, isDelimiter(bytes[start + 1])
        else { return 0 }
        // A delimiter holds no zero bytes: the next ones begin the next start code.
        return bytes[(start + 2)...].firstIndex(of: 0) ?? 0
    }
}

/// Parameter sets in a decoder configuration record (ISO/IEC 14496-15 §5.3.3.1, §8.3.3.1).
private struct ConfigurationRecord {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func units(isHEVC: Bool) throws(MediaError) -> [[UInt8]] {
        var record = self
        return try isHEVC ? record.hevc() : record.avc()
    }

    private mutating func avc() throws(MediaError) -> [[UInt8]] {
        offset = 5
        var units: [[UInt8]] = []
        for mask: UInt8 in [31, 255] {
            for _ in 0..<(try byte() & mask) { units.append(try unit()) }
        }
        return units
    }

    private mutating func hevc() throws(MediaError) -> [[UInt8]] {
        offset = 22
        var units: [[UInt8]] = []
        for _ in 0..<(try byte()) {
            _ = try byte()
            for _ in 0..<(try number()) { units.append(try unit()) }
        }
        return units
    }

    private mutating func byte() throws(MediaError) -> UInt8 {
        guard offset < bytes.count else { throw Self.invalid }
        defer { offset += 1 }
        return bytes[offset]
    }

    private mutating func number() throws(MediaError) -> Int { Int(try byte()) << 8 | Int(try byte()) }

    private mutating func unit() throws(MediaError) -> [UInt8] {
        let count = try number()
        guard count <= bytes.count - offset else { throw Self.invalid }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    private static let invalid = MediaError(
        .format, .invalidData, "The encoder's parameter sets cannot be read.")
}
