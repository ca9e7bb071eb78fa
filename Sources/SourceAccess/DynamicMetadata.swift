package import Media

/// The dynamic metadata of one picture as it stood in an H.265 bit stream, to be put beside the same picture in another one.
/// Encoders know nothing of it; the bytes are the source's own.
package struct DynamicMetadata: Sendable, Hashable {
    /// HDR10+ (SMPTE ST 2094-40): a user data message registered by ITU-T T.35, without type and size.
    private(set) var hdr10Plus: [UInt8]?
    /// The Dolby Vision reference processing unit: a whole NAL unit.
    private(set) var dolbyVision: [UInt8]?
    /// Closed captions: the triplets of `cc_data` (ANSI/CTA-708 §4.3).
    private(set) var captions: [UInt8]?

    /// - Returns: `nil` for a sample that has none of what is wanted.
    package init?(of sample: Sample, hdr10Plus wantsHDR10Plus: Bool, dolbyVision wantsDolbyVision: Bool) {
        guard sample.format.codecName == "hevc" else { return nil }
        sample.withUnsafeBytes { bytes in
            let lengthSize = RandomAccessPoint.nalLengthSize(sample.format, offset: 21)
            var units = NALUnits(bytes, lengthSize: lengthSize)
            while let unit = units.next() {
                guard unit.count > 2 else { continue }
                switch (unit[0] >> 1) & 0x3F {
                case Unit.prefixSEI where wantsHDR10Plus && hdr10Plus == nil:
                    hdr10Plus = Self.hdr10Plus(in: UnsafeRawBufferPointer(rebasing: unit.dropFirst(2)))
                case Unit.dolbyVision where wantsDolbyVision:
                    dolbyVision = Array(lengthSize == nil ? Self.withoutStartCode(unit) : unit[...])
                default: continue
                }
            }
        }
        if hdr10Plus == nil, dolbyVision == nil { return nil }
    }

    /// - Returns: `nil` for a picture without captions.
    package init?(captionsOf frame: Frame) {
        guard let bytes = frame.attachment(.captions)?.bytes, bytes.count >= 3 else { return nil }
        captions = bytes
    }

    /// What the two say of one picture.
    package func merging(_ other: DynamicMetadata) -> DynamicMetadata {
        var merged = self
        merged.hdr10Plus = hdr10Plus ?? other.hdr10Plus
        merged.dolbyVision = dolbyVision ?? other.dolbyVision
        merged.captions = captions ?? other.captions
        return merged
    }

    init(hdr10Plus: [UInt8]?, dolbyVision: [UInt8]?) {
        self.hdr10Plus = hdr10Plus
        self.dolbyVision = dolbyVision
    }

    /// NAL unit types, Rec. ITU-T H.265 Table 7-1; 62 is unspecified there and Dolby's.
    private enum Unit {
        static let prefixSEI: UInt8 = 39
        static let dolbyVision: UInt8 = 62
        static let firstNonVideo: UInt8 = 32
    }

    // MARK: Reading

    /// A unit found by start codes reaches to the end of the next one.
    private static func withoutStartCode(_ unit: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var end = unit.count
        if end >= 3, unit[end - 1] == 1, unit[end - 2] == 0, unit[end - 3] == 0 { end -= 3 }
        while end > 0, unit[end - 1] == 0 { end -= 1 }
        return unit[..<end]
    }

    /// itu_t_t35 of the United States (0xB5), provider Samsung (0x003C), provider code 1, application 4.
    private static let signature: [UInt8] = [0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04]
    private static let registeredUserData = 4

    private static func hdr10Plus(in payload: UnsafeRawBufferPointer) -> [UInt8]? {
        var messages = SEIMessages(payload)
        while let message = messages.next() {
            if message.type == registeredUserData, message.payload.starts(with: signature) {
                return Array(message.payload)
            }
        }
        return nil
    }

    // MARK: Writing

    /// The sample, in start-code packaging, with the metadata at its place: the message before the first slice (§7.4.2.4.4), the
    /// processing unit after the last.
    ///
    /// - Throws: `.format`/`.unsupported` for a sample without start codes or without a slice.
    package func added(to sample: Sample) throws(MediaError) -> Sample {
        let bytes = sample.withUnsafeBytes { Array($0) }
        guard let place = Self.firstSlice(bytes) else {
            throw MediaError(.format, .unsupported, "The encoder's samples are not packaged with start codes.")
        }
        var result = Array(bytes[..<place])
        if let captions { result += Self.startCode + Self.message(Self.captionMessage(captions)) }
        if let hdr10Plus { result += Self.startCode + Self.message(hdr10Plus) }
        result += bytes[place...]
        if let dolbyVision { result += Self.startCode + dolbyVision }
        return try result.withUnsafeBufferPointer { (buffer) throws(MediaError) in
            try Sample(
                bytes: UnsafeRawBufferPointer(buffer), format: sample.format, timeBase: sample.timeBase,
                pts: sample.pts, dts: sample.dts,
                duration: sample.duration, isSync: sample.isSync, isDiscarded: sample.isDiscarded,
                attachments: sample.attachments, track: sample.track)
        }
    }

    /// ATSC A/53 part 4 §6.2.3: United States, ATSC, “GA94”, type 3; as many triplets as one picture can have.
    private static func captionMessage(_ triplets: [UInt8]) -> [UInt8] {
        let count = min(31, triplets.count / 3)
        return [0xB5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0x40 | UInt8(count), 0xFF]
            + triplets.prefix(count * 3) + [0xFF]
    }

    private static let startCode: [UInt8] = [0, 0, 0, 1]

    private static func firstSlice(_ bytes: [UInt8]) -> Int? {
        var index = 0
        while index + 3 < bytes.count {
            if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                if (bytes[index + 3] >> 1) & 0x3F < Unit.firstNonVideo {
                    return index > 0 && bytes[index - 1] == 0 ? index - 1 : index
                }
                index += 3
            } else {
                index += 1
            }
        }
        return nil
    }

    private static func message(_ payload: [UInt8]) -> [UInt8] {
        var size: [UInt8] = []
        var rest = payload.count
        while rest >= 255 {
            size.append(255)
            rest -= 255
        }
        size.append(UInt8(rest))
        let header: [UInt8] = [Unit.prefixSEI << 1, 1]
        return header + escaped([UInt8(registeredUserData)] + size + payload + [0x80])
    }

    /// Emulation prevention (§7.4.2).
    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte <= 3 {
                result.append(3)
                zeros = 0
            }
            result.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return result
    }
}
