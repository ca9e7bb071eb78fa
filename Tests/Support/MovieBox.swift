/// Puts a clean aperture box into a movie's first sample entry, as cameras and Final Cut write it.
package struct CleanApertureBox {
    /// Numerator and denominator each.
    package var width: (UInt32, UInt32)
    package var height: (UInt32, UInt32)
    package var across: (Int32, UInt32)
    package var down: (Int32, UInt32)

    package init(
        width: (UInt32, UInt32), height: (UInt32, UInt32), across: (Int32, UInt32) = (0, 1),
        down: (Int32, UInt32) = (0, 1)
    ) {
        (self.width, self.height, self.across, self.down) = (width, height, across, down)
    }

    package var bytes: [UInt8] {
        let numbers = [
            40, 0x636C_6170, width.0, width.1, height.0, height.1, UInt32(bitPattern: across.0), across.1,
            UInt32(bitPattern: down.0), down.1,
        ]
        return numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
    }

    /// - Returns: `nil` where the movie's index does not come behind its media.
    package func inserted(into movie: [UInt8]) -> [UInt8]? {
        MovieBox.insert(bytes, into: movie, at: ["trak", "mdia", "minf", "stbl", "stsd", "entry"])
    }
}

/// Puts a box into a movie whose index comes behind its media, so that no sample moves.
package enum MovieBox {
    /// - Parameter path: of the box that gets it at its end, below `moov`; the first of each type, `entry` for a sample entry.
    package static func insert(_ box: [UInt8], into movie: [UInt8], at path: [String]) -> [UInt8]? {
        var result = movie
        var place = 0..<movie.count
        var parents: [Int] = []
        for type in ["moov"] + path {
            let found = type == "entry" ? place.lowerBound + 8 : self.box(type, in: place, of: movie)?.lowerBound
            guard let start = found, start + 8 <= movie.count else { return nil }
            parents.append(start)
            place = (start + 8)..<min(movie.count, start + number(movie, start))
        }
        for offset in parents {
            let size = number(movie, offset) + box.count
            for index in 0..<4 { result[offset + index] = UInt8(truncatingIfNeeded: size >> (24 - 8 * index)) }
        }
        result.insert(contentsOf: box, at: place.upperBound)
        return result
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func box(_ type: String, in range: Range<Int>, of bytes: [UInt8]) -> Range<Int>? {
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound {
            let size = number(bytes, offset)
            guard size >= 8, offset + size <= range.upperBound else { return nil }
            if String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self) == type { return offset..<offset + size }
            offset += size
        }
        return nil
    }
}
