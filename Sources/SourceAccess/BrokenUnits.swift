package import Media

/// Finds pictures whose bytes break a rule that no encoder breaks, where decoders say nothing: libavcodec's HEVC decoder shows a slice
/// whose data stops early as if all were well.
package enum BrokenUnits {
    /// What is wrong with the sample, in words for people; `nil` where nothing shows.
    ///
    /// Inside a NAL unit no three bytes read 0 0 0, 0 0 1 or 0 0 2 (Rec. ITU-T H.264 §7.4.1, H.265 §7.4.2.1): so zeroed blocks show, as
    /// a disk leaves them behind, and so do lengths that lead beyond the sample.
    package static func find(in sample: Sample) -> String? {
        switch sample.format.codecName {
        case "h264": find(sample, offset: 4) { (1...5).contains($0 & 0x1F) }
        case "hevc": find(sample, offset: 21) { ($0 >> 1) & 0x3F < 32 }
        default: nil
        }
    }

    private static func find(_ sample: Sample, offset: Int, isPicture: (UInt8) -> Bool) -> String? {
        // With start codes a zero too many is allowed between two units (§B.1.1), and the rule tells less.
        guard let lengthSize = RandomAccessPoint.nalLengthSize(sample.format, offset: offset) else { return nil }
        return sample.withUnsafeBytes { bytes in
            var units = NALUnits(bytes, lengthSize: lengthSize)
            while let unit = units.next() {
                if units.isCutOff { return "A length in the sample leads beyond its end." }
                if let header = unit.first, isPicture(header), hasZeros(unit) {
                    return "The sample holds bytes that no encoder writes."
                }
            }
            return nil
        }
    }

    /// Zeros at the end are padding, which some writers count in.
    private static func hasZeros(_ unit: UnsafeRawBufferPointer) -> Bool {
        var index = unit.startIndex
        let end = (unit.lastIndex { $0 != 0 } ?? index) + 1
        while index + 2 < end {
            let third = unit[index + 2]
            if third > 2 {
                index += 3
            } else if unit[index] == 0, unit[index + 1] == 0 {
                return true
            } else {
                index += 1
            }
        }
        return false
    }
}
