/// Reads the head of a container a block at a time, over the protocols that the demuxer itself reads through, and no more than a
/// header can ask for: sizes and places come from the file, and a hostile one may name any.
final class HeaderBytes {
    private static let blockLength: Int64 = 64 << 10
    /// Blocks that are fetched at most: 32 MiB.
    private static let blockLimit = 512

    private let source: ByteSource
    private var blocks: [Int64: [UInt8]] = [:]
    /// `nil` where places in it cannot be read by themselves: its first block is all there is.
    private let size: Int64?

    init(location: String, interrupt: InterruptFlag) throws(MediaError) {
        source = try ByteSource(location: location, interrupt: interrupt)
        size = source.size
    }

    /// Where the file ends, as far as it can be read.
    var end: Int64 { size ?? Self.blockLength }

    /// - Returns: `nil` for what lies outside the file, or beyond what is read of it.
    func bytes(at offset: Int64, count: Int) throws(MediaError) -> [UInt8]? {
        guard offset >= 0, count >= 0, count <= Self.blockLength, offset <= end - Int64(count) else { return nil }
        var result: [UInt8] = []
        var place = offset
        while result.count < count {
            let number = place / Self.blockLength
            guard let block = try block(number) else { return nil }
            let start = Int(place - number * Self.blockLength)
            guard start < block.count else { return nil }
            let part = block[start..<min(block.count, start + count - result.count)]
            result += part
            place += Int64(part.count)
        }
        return result
    }

    func number(at offset: Int64, bytes width: Int) throws(MediaError) -> UInt64? {
        guard let bytes = try bytes(at: offset, count: width) else { return nil }
        return MovieBoxes.number(bytes, at: 0, bytes: width)
    }

    private func block(_ number: Int64) throws(MediaError) -> [UInt8]? {
        if let known = blocks[number] { return known }
        guard blocks.count < Self.blockLimit else { return nil }
        let block = try source.read(at: number * Self.blockLength, count: Int(Self.blockLength))
        blocks[number] = block
        return block
    }
}
