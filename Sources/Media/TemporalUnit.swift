/// What is left of an AV1 sample in a file: libavformat writes no temporal delimiters, redundant headers, tile lists and padding
/// (AV1 Codec ISO Media File Format Binding §2.4), and of a sample that holds nothing else it silently writes nothing at all.
enum TemporalUnit {
    /// Every unit of the sample is one that is not written (AV1 Bitstream & Decoding Process Specification §5.3.2, §6.2.2).
    static func isVoid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            let header = bytes[index]
            guard [2, 7, 8, 15].contains(header >> 3 & 0x0F) else { return false }
            index += header & 4 != 0 ? 2 : 1
            // Without a size the unit goes on to the end.
            guard header & 2 != 0 else { return true }
            var size = 0
            var shift = 0
            while index < bytes.count, shift < 56 {
                let byte = bytes[index]
                index += 1
                size |= Int(byte & 0x7F) << shift
                shift += 7
                if byte & 0x80 == 0 { break }
            }
            guard size <= bytes.count - index else { return true }
            index += size
        }
        return true
    }
}
