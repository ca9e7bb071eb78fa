internal import Media

/// Tells HEVC's leading pictures that are not shown: RASL pictures whose random access point makes a new beginning (a BLA picture, or
/// a CRA picture after an end of sequence), so that what they refer to is not there.
///
/// Rec. ITU-T H.265 §8.1.3 (NoRaslOutputFlag), Table 7-1 (RASL 8 and 9, BLA 16…18, CRA 21, end of sequence 36, of bit stream 37).
struct LeadingPictures: Sendable {
    private var isAfterEnd = false
    private var isNewBeginning = false
    /// The sample asked about last is a new beginning at which the pictures that still wait are dropped (§C.5.2.2,
    /// NoOutputOfPriorPicsFlag): those that decoding by segments would show and a single pass would not.
    private(set) var dropsWaiting = false

    mutating func isShown(_ sample: Sample) -> Bool {
        dropsWaiting = false
        let lengthSize = RandomAccessPoint.nalLengthSize(sample.format, offset: 21)
        return sample.withUnsafeBytes { bytes in
            defer { if Self.hasEndBehind(bytes) { isAfterEnd = true } }
            var units = NALUnits(bytes, lengthSize: lengthSize)
            while let unit = units.next() {
                guard let header = unit.first else { continue }
                let type = header >> 1 & 0x3F
                if type == 36 || type == 37 { isAfterEnd = true }
                guard type < 32 else { continue }
                // §7.3.6.1: no_output_of_prior_pics_flag follows the first bit of the slice header.
                let isMarked = unit.count > 2 && unit[2] & 0x40 != 0
                return isShown(type, isMarked: isMarked)
            }
            return true
        }
    }

    private mutating func isShown(_ type: UInt8, isMarked: Bool) -> Bool {
        if (16...21).contains(type) {
            isNewBeginning = type <= 18 || (type == 21 && isAfterEnd)
            dropsWaiting = type == 21 ? isAfterEnd : isMarked
        }
        isAfterEnd = false
        return !(isNewBeginning && (type == 8 || type == 9))
    }

    /// The unit of two bytes that ends a sequence comes behind the picture, where the packaging lets it stand there.
    private static func hasEndBehind(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let tail = bytes.suffix(5)
        guard tail.count == 5, let first = tail.first else { return false }
        let end = Array(tail)
        let isUnit = first == 0 && end[1] == 0 && (end[2] == 1 || end[2] == 2)
        return isUnit && [36, 37].contains(end[3] >> 1 & 0x3F) && end[4] & 7 == 1
    }
}
