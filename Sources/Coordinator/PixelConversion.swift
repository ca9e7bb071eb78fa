internal import Media

/// How the filtered pictures are brought to a pixel format that an encoder takes, and what that costs.
struct PixelConversion: Hashable, Sendable {
    /// To be appended to the chain; empty for none.
    private(set) var filter = ""
    private(set) var colour: ColourDescription
    private(set) var warnings: [String] = []

    /// - Parameters:
    ///   - signalsRange: the codec can say that a picture uses the full range.
    init(
        from source: FrameFormat, colour: ColourDescription, to target: String, encoder: String, signalsRange: Bool
    ) {
        self.colour = colour
        guard let from = PixelFormatTraits(source.pixelFormat), let into = PixelFormatTraits(target) else { return }
        var scale: [String] = []
        if from.isRGB, !into.isRGB {
            // BT.709, the matrix that players assume for high definition; said in the parameter sets, so that none has to guess.
            self.colour.matrix = "bt709"
            self.colour.range = "tv"
            scale = ["out_color_matrix=bt709", "out_range=tv"]
            warnings.append("RGB pictures become YUV with the BT.709 matrix: \(encoder) is given no RGB.")
        } else if !from.isRGB, !into.isRGB {
            let range = colour.range ?? (from.isFullRange ? "pc" : nil)
            if range == "pc", !signalsRange {
                self.colour.range = "tv"
                scale = ["in_range=pc", "out_range=tv"]
                warnings.append("Full-range pictures become limited range: \(encoder) cannot say that they are full.")
            } else if let range, source.pixelFormat != target {
                // libswscale takes the range from the format's name unless told.
                self.colour.range = range
                scale = ["in_range=\(range)", "out_range=\(range)"]
            }
        }
        guard source.pixelFormat != target || !scale.isEmpty else { return }
        if from.chroma == .quarter, into.chroma != .quarter, let siting = Self.siting[colour.chromaLocation ?? ""] {
            scale.append("in_h_chr_pos=\(siting.horizontal):in_v_chr_pos=\(siting.vertical)")
            self.colour.chromaLocation = nil
        }
        // Interlaced pictures are converted field by field. With flags of its own the filter takes none of the graph's.
        let arguments = ["interl=-1", "flags=bicubic+accurate_rnd+full_chroma_int+bitexact"] + scale
        filter = "scale=\(arguments.joined(separator: ":")),format=\(target)"
        if into.chroma == .quarter, from.chroma != .quarter, !from.isRGB || self.colour.chromaLocation == nil {
            // libswscale's own position, and the default of H.264 and H.265 (§E.2.1).
            self.colour.chromaLocation = "left"
        }
        if !from.isRGB, from.chroma == .quarter || from.chroma == .half, into.chroma == .full,
            source.width % 2 + source.height % 2 > 0
        {
            warnings.append(
                "\(from.chroma.rawValue) chroma becomes 4:4:4, which fewer players show: \(encoder) takes no other for odd sides "
                    + "(\(source.width)×\(source.height)). --filter pad=ceil(iw/2)*2:ceil(ih/2)*2 adds an edge instead."
            )
        }
        warnings += Self.costs(from, into, encoder)
    }

    /// Where libswscale must look for chroma that does not lie where it expects it ("left"), in 1/256 of a sample.
    private static let siting: [String: (horizontal: Int, vertical: Int)] = [
        "topleft": (0, 0), "center": (128, 128), "top": (128, 0), "bottomleft": (0, 256), "bottom": (128, 256),
    ]

    private static func costs(_ from: PixelFormatTraits, _ into: PixelFormatTraits, _ encoder: String) -> [String] {
        var costs: [String] = []
        if into.depth < from.depth {
            costs.append("\(from.depth) bits become \(into.depth): \(encoder) takes no more.")
        }
        let order: [PixelFormatTraits.Chroma] = [.none, .quarter, .narrow, .tall, .half, .full]
        if !into.isRGB, let a = order.firstIndex(of: from.chroma), let b = order.firstIndex(of: into.chroma), b < a {
            costs.append("\(from.chroma.rawValue) chroma becomes \(into.chroma.rawValue): \(encoder) takes no finer.")
        }
        if from.hasAlpha, !into.hasAlpha { costs.append("The alpha channel is left out: \(encoder) takes none.") }
        return costs
    }
}
