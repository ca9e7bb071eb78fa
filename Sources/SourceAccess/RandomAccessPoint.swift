package import Media
package import SegmentPlan

/// Reads from a sample's own bits whether decoding may really start there; the container's flag alone is not trusted.
package enum RandomAccessPoint {
    /// - Returns: what the sample promises. Codecs without a parser here are taken at the container's word as an open group,
    ///   whose leading pictures are found by their times.
    package static func kind(of sample: Sample) -> Keyframe.Kind {
        switch sample.format.codecName {
        case "h264": sample.withUnsafeBytes { h264($0, lengthSize: nalLengthSize(sample.format, offset: 4)) }
        case "hevc": sample.withUnsafeBytes { hevc($0, lengthSize: nalLengthSize(sample.format, offset: 21)) }
        case "vp8", "vp9", "av1": .clean
        case "mpeg2video", "mpeg1video": sample.withUnsafeBytes(mpeg2)
        default: .open
        }
    }

    /// Whether the sample is a random access point: the container says so, or it is the track's first and its bits say so.
    /// Fragmented files exist whose first sample is an IDR picture without the flag.
    static func isStart(_ sample: Sample, isFirst: Bool) -> Bool {
        guard !sample.isSync else { return true }
        return isFirst && ["h264", "hevc"].contains(sample.format.codecName) && kind(of: sample) == .clean
    }

    /// Bytes of the length before each NAL unit (ISO/IEC 14496-15 §5.3.3.1, §8.3.3.1); `nil` for Annex B start codes.
    static func nalLengthSize(_ format: FormatDescription, offset: Int) -> Int? {
        let extradata = format.extradata
        // avcC and hvcC start with configurationVersion 1 (some hvcC writers leave it 0); Annex B starts with 0 0 1 or 0 0 0 1.
        guard extradata.count > offset, !(extradata[0] == 0 && extradata[1] == 0) else { return nil }
        return Int(extradata[offset] & 3) + 1
    }

    // MARK: H.264

    /// Rec. ITU-T H.264 §7.4.1.2.4 (IDR), §D.2.8 (recovery point SEI).
    private static func h264(_ bytes: UnsafeRawBufferPointer, lengthSize: Int?) -> Keyframe.Kind {
        var recovery: Int?
        var units = NALUnits(bytes, lengthSize: lengthSize)
        while let unit = units.next() {
            guard let header = unit.first else { continue }
            switch header & 0x1F {
            case 5: return .clean
            case 6: recovery = recovery ?? recoveryFrameCount(UnsafeRawBufferPointer(rebasing: unit.dropFirst()))
            case 1, 2:
                guard let recovery else { return .doubtful }
                return recovery == 0 ? .open : .recovery(frames: recovery)
            default: continue
            }
        }
        return .doubtful
    }

    /// recovery_frame_cnt of the first recovery point message (payload type 6) in a SEI RBSP.
    private static func recoveryFrameCount(_ payload: UnsafeRawBufferPointer) -> Int? {
        // A recovery point is a few bytes; larger messages before it are skipped by size, so a short prefix suffices.
        var messages = SEIMessages(payload, limit: 4096)
        while let message = messages.next() {
            guard message.type == 6 else { continue }
            var bits = BitReader(message.payload)
            return bits.unsignedExpGolomb()
        }
        return nil
    }

    // MARK: HEVC

    /// Rec. ITU-T H.265 Table 7-1: BLA 16…18, IDR 19…20, CRA 21.
    private static func hevc(_ bytes: UnsafeRawBufferPointer, lengthSize: Int?) -> Keyframe.Kind {
        var units = NALUnits(bytes, lengthSize: lengthSize)
        while let unit = units.next() {
            guard let header = unit.first else { continue }
            switch (header >> 1) & 0x3F {
            case 16...20: return .clean
            case 21: return .open
            case 0...15: return .doubtful
            default: continue
            }
        }
        return .doubtful
    }

    // MARK: MPEG-2

    /// ISO/IEC 13818-2 §6.3.8: closed_gop in the group of pictures header.
    private static func mpeg2(_ bytes: UnsafeRawBufferPointer) -> Keyframe.Kind {
        var index = 0
        while index + 7 < bytes.count {
            if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                if bytes[index + 3] == 0xB8 { return bytes[index + 7] & 0x40 != 0 ? .clean : .open }
                if bytes[index + 3] == 0 { break }  // the picture itself
            }
            index += 1
        }
        return .open
    }
}

/// Bits, most significant first.
private struct BitReader {
    private let bytes: ArraySlice<UInt8>
    private var bit = 0

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    private mutating func read() -> Int? {
        guard bit < bytes.count * 8 else { return nil }
        let value = bytes[bytes.startIndex + bit / 8] >> (7 - UInt8(bit % 8)) & 1
        bit += 1
        return Int(value)
    }

    /// ue(v), Rec. ITU-T H.264 §9.1; `nil` past the end or beyond 31 bits.
    mutating func unsignedExpGolomb() -> Int? {
        var zeros = 0
        while true {
            guard let bit = read() else { return nil }
            if bit == 1 { break }
            zeros += 1
            if zeros > 31 { return nil }
        }
        var suffix = 0
        for _ in 0..<zeros {
            guard let bit = read() else { return nil }
            suffix = suffix << 1 | bit
        }
        return (1 << zeros) - 1 + suffix
    }
}
