internal import MediaTime

/// What a container cuts off its coded pictures before they are shown: Matroska's PixelCrop elements (RFC 9559 §5.1.4.1.28) and the
/// clean aperture of movies (ISO/IEC 14496-12 §12.1.4). What a bit stream cuts off by itself the decoder has done already.
package struct PictureCropping: Hashable, Sendable {
    /// Pixels of the coded picture.
    package var top = 0
    package var bottom = 0
    package var left = 0
    package var right = 0
    /// The coded picture's size, as the container tells it.
    package var width: Int
    package var height: Int
    /// Width of a pixel over its height, where the container tells the shape of what is left (RFC 9559 §5.1.4.1.28.14).
    package var sampleAspectRatio: Rational?

    /// - Returns: `nil` where nothing is cut off, or nothing would be left.
    package init?(width: Int, height: Int, top: Int, bottom: Int, left: Int, right: Int) {
        let bounds = 0...(1 << 24)
        guard [width, height, top, bottom, left, right].allSatisfy(bounds.contains),
            top + bottom + left + right > 0, left + right < width, top + bottom < height
        else { return nil }
        (self.width, self.height) = (width, height)
        (self.top, self.bottom, self.left, self.right) = (top, bottom, left, right)
    }

    /// What is kept of a picture.
    package struct Rectangle: Hashable, Sendable {
        package var x: Int
        package var y: Int
        package var width: Int
        package var height: Int

        /// libavfilter's; `exact`, because it would round an odd size down.
        package var filter: String { "crop=w=\(width):h=\(height):x=\(x):y=\(y):exact=1" }
    }

    /// Exactly what is wanted.
    package var wanted: Rectangle {
        Rectangle(x: left, y: top, width: width - left - right, height: height - top - bottom)
    }

    /// What can be kept of a picture whose colour is stored for several pixels together: the wanted rectangle, with its edges moved
    /// outwards to the next place where colour samples begin, so that no wanted pixel is lost. The rows of interlaced pictures
    /// come in pairs of fields.
    ///
    /// - Returns: `nil` for a picture of another size than the container told: of that nobody knows what to cut off.
    package func rectangle(width: Int, height: Int, pixelFormat: String, isInterlaced: Bool) -> Rectangle? {
        guard (width, height) == (self.width, self.height) else { return nil }
        let chroma = PixelFormatTraits(pixelFormat)?.subsampling ?? .init(width: 1, height: 1)
        let row = chroma.height * (isInterlaced ? 2 : 1)
        let x = left / chroma.width * chroma.width
        let y = top / row * row
        let end = min(width, (width - right + chroma.width - 1) / chroma.width * chroma.width)
        let bottomEdge = min(height, (height - bottom + row - 1) / row * row)
        return Rectangle(x: x, y: y, width: end - x, height: bottomEdge - y)
    }

    /// "140 rows above, 140 below".
    package var description: String {
        let parts = [(top, "above"), (bottom, "below"), (left, "on the left"), (right, "on the right")].filter {
            $0.0 > 0
        }
        return parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}

extension PictureCropping {
    /// The four numbers of 32 bits, little-endian, that FFmpeg 7.1 tells: top, bottom, left, right (libavcodec/packet.h).
    init?(sideData bytes: [UInt8], width: Int, height: Int) {
        guard bytes.count >= 16 else { return nil }
        let numbers = (0..<4).map { index in
            bytes[index * 4..<index * 4 + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        self.init(
            width: width, height: height, top: numbers[0], bottom: numbers[1], left: numbers[2], right: numbers[3])
    }
}
