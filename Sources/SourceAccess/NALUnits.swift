/// Walks the NAL units of one access unit, in either packaging.
struct NALUnits {
    private let bytes: UnsafeRawBufferPointer
    private let lengthSize: Int?
    private var index = 0
    /// The last unit's length leads beyond the sample: what is there of it was given.
    private(set) var isCutOff = false

    init(_ bytes: UnsafeRawBufferPointer, lengthSize: Int?) {
        self.bytes = bytes
        self.lengthSize = lengthSize
        if lengthSize == nil { index = Self.afterStartCode(bytes, from: 0) }
    }

    mutating func next() -> UnsafeRawBufferPointer? {
        guard let lengthSize else { return nextByStartCode() }
        guard bytes.count - index > lengthSize else { return nil }
        var length = 0
        for offset in 0..<lengthSize { length = length << 8 | Int(bytes[index + offset]) }
        let start = index + lengthSize
        isCutOff = length > bytes.count - start
        let end = min(bytes.count, start + length)
        index = end
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    private mutating func nextByStartCode() -> UnsafeRawBufferPointer? {
        guard index < bytes.count else { return nil }
        let start = index
        let following = Self.afterStartCode(bytes, from: start)
        index = following
        return UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, following)])
    }

    /// Index of the byte after the next 00 00 01, or the end.
    private static func afterStartCode(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 2 < bytes.count {
            if bytes[index + 2] > 1 {
                index += 3
            } else if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                return index + 3
            } else {
                index += 1
            }
        }
        return bytes.count
    }

    /// Removes emulation prevention bytes (Rec. ITU-T H.264 §7.4.1.1).
    static func unescaped(_ bytes: UnsafeRawBufferPointer, limit: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(min(limit, bytes.count))
        var zeros = 0
        for byte in bytes.prefix(limit) {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }
}

/// The messages of one SEI unit: a list, each with type and size (Rec. ITU-T H.264 §7.3.2.3.1, H.265 §7.3.5). It ends at the first
/// message that is longer than what is left.
struct SEIMessages {
    private let rbsp: [UInt8]
    private var index = 0

    /// - Parameters:
    ///   - payload: the unit without its header, with emulation prevention.
    ///   - limit: bytes of it that are looked at.
    init(_ payload: UnsafeRawBufferPointer, limit: Int = .max) {
        rbsp = NALUnits.unescaped(payload, limit: limit)
    }

    mutating func next() -> (type: Int, payload: ArraySlice<UInt8>)? {
        // The last byte is the trailing bit.
        guard index < rbsp.count - 1, let type = extended(), let size = extended(), size <= rbsp.count - index else {
            return nil
        }
        defer { index += size }
        return (type, rbsp[index..<(index + size)])
    }

    private mutating func extended() -> Int? {
        var value = 0
        while index < rbsp.count {
            let byte = rbsp[index]
            index += 1
            value += Int(byte)
            if byte != 0xFF { return value }
        }
        return nil
    }
}
