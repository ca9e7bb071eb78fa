internal import CFFmpeg
internal import MediaTime

/// How far two pictures are apart where they differ most: the mean difference of brightness in the worst block of 16 × 16 pixels,
/// 0 to 255.
///
/// Coding errors spread over a picture; damage is all in one place, and a mean over the whole picture (`PictureComparison`) hardly
/// moves. Computed by libavfilter. Blocking, for one thread at a time.
package final class BlockDifference {
    private let filter: PictureFilter
    private let left: FrameFormat
    private let right: FrameFormat

    /// - Throws: where pictures of these formats cannot be brought to one.
    package init(_ left: FrameFormat, _ right: FrameFormat) throws(MediaError) {
        guard left.width == right.width, left.height == right.height else {
            throw MediaError(.filter, .invalidSettings, "Pictures of two sizes cannot be compared.")
        }
        self.left = left
        self.right = right
        let size = try left.checkedSize()
        let blocks = "\(max(1, size.width / 16)):\(max(1, size.height / 16))"
        filter = try PictureFilter(
            "\(try Self.luma(of: left))[a];\(try Self.luma(of: right))[b];"
                + "[a][b]blend=all_mode=difference,scale=\(blocks):flags=area,format=gray,buffersink")
    }

    private static func luma(of format: FrameFormat) throws(MediaError) -> String {
        let plane = PictureComparison.takes(format.pixelFormat) ? "extractplanes=y" : "format=gray"
        return "\(try PictureFilter.source(of: format)),\(plane)"
    }

    package func accepts(_ first: Frame, _ second: Frame) -> Bool { left.fits(first) && right.fits(second) }

    /// - Returns: `nil` where nothing came out of the comparison.
    package func largest(_ first: Frame, _ second: Frame) throws(MediaError) -> Double? {
        guard accepts(first, second) else {
            throw MediaError(.filter, .invalidSettings, "Pictures of another format cannot be compared.")
        }
        return try filter.answer(to: first, second).flatMap { Self.largest($0.frame) }
    }

    private static func largest(_ frame: UnsafeMutablePointer<AVFrame>) -> Double? {
        guard let first = frame.pointee.data.0, frame.pointee.width > 0, frame.pointee.linesize.0 > 0 else {
            return nil
        }
        let (width, stride) = (Int(frame.pointee.width), Int(frame.pointee.linesize.0))
        var largest: UInt8 = 0
        for row in 0..<Int(frame.pointee.height) {
            let values = UnsafeBufferPointer(start: first + row * stride, count: width)
            largest = max(largest, values.max() ?? 0)
        }
        return Double(largest)
    }
}
