internal import CFFmpeg
internal import MediaTime

/// How like two pictures are, by libavfilter's `psnr` and `ssim`: luma, picture by picture.
///
/// Both pictures must have the size and the pixel format that it was made for. Blocking, for one thread at a time.
package final class PictureComparison {
    package struct Likeness: Sendable, Hashable {
        /// Peak signal to noise ratio of luma in decibels; +∞ for equal pictures.
        package var decibels: Double
        /// Structural similarity of luma, 1 for equal pictures.
        package var similarity: Double
    }

    /// Pixel formats that both filters take as they are.
    package static func takes(_ pixelFormat: String) -> Bool {
        let depths = ["", "9le", "10le", "12le", "14le", "16le"]
        return depths.contains { depth in
            ["yuv420p", "yuv422p", "yuv444p", "yuv440p", "gray"].contains { $0 + depth == pixelFormat }
        } || ["yuvj420p", "yuvj422p", "yuvj444p", "yuvj440p"].contains(pixelFormat)
    }

    private let filter: PictureFilter
    private let input: FrameFormat

    package init(_ input: FrameFormat) throws(MediaError) {
        self.input = input
        let source = try PictureFilter.source(of: input)
        filter = try PictureFilter(
            "\(source)[left];\(source)[right];[right]split[c][d];[left][c]psnr[p];[p][d]ssim,buffersink")
    }

    package func accepts(_ frame: Frame) -> Bool { input.fits(frame) }

    /// - Returns: `nil` for pictures that cannot be told apart by these measures (too small).
    package func likeness(_ left: Frame, _ right: Frame) throws(MediaError) -> Likeness? {
        guard accepts(left), accepts(right) else {
            throw MediaError(.filter, .invalidSettings, "Pictures of another format cannot be compared.")
        }
        guard let result = try filter.answer(to: left, right) else { return nil }
        func number(_ key: String) -> Double? {
            av_dict_get(result.frame.pointee.metadata, key, nil, 0)?.pointee.value.flatMap {
                Double(String(cString: $0))
            }
        }
        guard let decibels = number("lavfi.psnr.psnr.y"), let similarity = number("lavfi.ssim.Y"), !decibels.isNaN,
            similarity.isFinite
        else { return nil }
        return Likeness(decibels: decibels, similarity: similarity)
    }
}

extension FrameFormat {
    /// Size and pixel format are those of the frame.
    func fits(_ frame: Frame) -> Bool {
        frame.width == width && frame.height == height && frame.pixelFormat == pixelFormat
    }
}
