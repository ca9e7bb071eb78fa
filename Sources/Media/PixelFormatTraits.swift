internal import CFFmpeg

/// What a pixel format can tell apart.
public struct PixelFormatTraits: Sendable, Hashable {
    /// How many colour samples there are for each picture sample.
    public enum Chroma: String, Sendable, Hashable {
        case none = "4:0:0"
        case quarter = "4:2:0"
        case half = "4:2:2"
        case narrow = "4:1:1"
        case tall = "4:4:0"
        case full = "4:4:4"
        case other = "subsampled"
    }

    package struct Subsampling: Sendable, Hashable {
        package var width: Int
        package var height: Int
    }

    /// Bits of a sample.
    public let depth: Int
    public let chroma: Chroma
    /// Pixels across and down that one colour sample stands for.
    package let subsampling: Subsampling
    public let isRGB: Bool
    public let hasAlpha: Bool
    /// One of libavutil's `yuvj…` names, which mean full range.
    public let isFullRange: Bool

    /// - Returns: `nil` for a name that libavutil does not know.
    public init?(_ name: String) {
        guard let description = av_pix_fmt_desc_get(av_get_pix_fmt(name))?.pointee else { return nil }
        depth = Int(description.comp.0.depth)
        isRGB = description.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
        hasAlpha = description.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
        isFullRange = name.hasPrefix("yuvj")
        let isGrey = description.nb_components < 3
        subsampling = Subsampling(
            width: isGrey ? 1 : 1 << Int(description.log2_chroma_w),
            height: isGrey ? 1 : 1 << Int(description.log2_chroma_h))
        chroma =
            switch (description.log2_chroma_w, description.log2_chroma_h) {
            case _ where isGrey: .none
            case (0, 0): .full
            case (1, 0): .half
            case (1, 1): .quarter
            case (2, 0): .narrow
            case (0, 1): .tall
            default: .other
            }
    }
}
