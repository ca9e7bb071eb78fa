/// Damages messages as a broken or hostile peer might: bits, bytes, runs, numbers at the edges, pieces of other messages, and lists that
/// are blown up to the size that a header may have.
package struct MessageMutator {
    package var generator: SeededRandom

    package init(seed: UInt64) { generator = SeededRandom(seed: seed) }

    private static let tokens = [
        "-1", "0", "1e400", "1e-400", "9223372036854775807", "9223372036854775808", "18446744073709551615", "null",
        "true", "[]", "{}", "\"\"", "\"\\u0000\"", "\"\\ud800\"", "[[[[[[[[", "4294967296", "1.5", "1048577", "65537",
        "-9223372036854775808", "2147483648", "1e308", "\"-1\"", "16777217",
    ]
    private static let words: [UInt32] = [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 20, 1 << 22, 1 << 16]

    package mutating func mutated(_ bytes: [UInt8], other: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty { mutate(&bytes, other: other) }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8], other: [UInt8]) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        // Half of the blows leave the form whole, so that what they alter is looked at.
        if Bool.random(using: &generator) {
            if bytes[0] == UInt8(ascii: "{") { return replaceValue(&bytes, from: place) }
            return replaceWord(&bytes, at: place)
        }
        switch Int.random(in: 0..<9, using: &generator) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 4: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...16, using: &generator)))
        case 5: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 24)], at: place)
        case 6: replaceValue(&bytes, from: place)
        case 7: replaceWord(&bytes, at: place)
        default: bytes = Array(bytes[..<place]) + other.suffix(from: min(place, other.count))
        }
    }

    /// Puts a nasty token where a JSON value is.
    private mutating func replaceValue(_ bytes: inout [UInt8], from place: Int) {
        guard let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")) else { return }
        let end = bytes[(colon + 1)...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") } ?? bytes.count
        let token = Self.tokens.randomElement(using: &generator) ?? "0"
        bytes.replaceSubrange((colon + 1)..<end, with: Array(token.utf8))
    }

    /// Puts a count at an edge where a binary form may have one.
    private mutating func replaceWord(_ bytes: inout [UInt8], at place: Int) {
        let start = place & ~3
        guard start + 4 <= bytes.count, let word = Self.words.randomElement(using: &generator) else { return }
        withUnsafeBytes(of: word.littleEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
    }

    /// The sizes of payload frames, one in four times not as they should be.
    /// - Parameter limit: bytes that one frame may have.
    package mutating func mutated(sizes: [Int], limit: Int) -> [Int] {
        guard Int.random(in: 0..<4, using: &generator) == 0 else { return sizes }
        var sizes = sizes
        sizes.append([0, 1, limit, limit + 1, Int.max / 1024].randomElement(using: &generator) ?? 0)
        return sizes
    }

    /// The header with one piece of it repeated until it is `size` bytes long: what makes a parser allocate the most for its bytes.
    package mutating func inflated(_ bytes: [UInt8], to size: Int) -> [UInt8] {
        let pieces = ["[", "0,", "\"\",", "{},", "{\"a\":", "\"\\u00e9\",", "[],", "1.5,", "\"a\":0,"]
        let opening = Bool.random(using: &generator) ? UInt8(ascii: "[") : UInt8(ascii: "{")
        let places = bytes.indices.filter { bytes[$0] == opening }
        guard let place = places.randomElement(using: &generator) else { return bytes }
        var piece = Array((pieces.randomElement(using: &generator) ?? "[").utf8)
        // The list's own first element, as a list of many of them is what passes for longest.
        let element = bytes[(place + 1)...].prefix { $0 != UInt8(ascii: "]") && $0 != UInt8(ascii: "}") }
        if Bool.random(using: &generator), element.count > 1, element.count < 4096 {
            let close: [UInt8] = element.contains(UInt8(ascii: "{")) ? [UInt8(ascii: "}")] : []
            piece = element + close + [UInt8(ascii: ",")]
        }
        let count = max(0, size - bytes.count) / piece.count
        var result = Array(bytes[...place])
        result.reserveCapacity(size)
        for _ in 0..<count { result += piece }
        return result + bytes[(place + 1)...]
    }
}
