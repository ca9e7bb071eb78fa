internal import ClusterProtocol
internal import Media

/// What Weft knows of encoders beyond what libavcodec tells.
struct EncoderTraits: Hashable, Sendable {
    /// Codes fields: field order survives.
    var codesFields: Bool
    /// Mastering display and content light level go into the bit stream too.
    var writesStaticHDR: Bool
    /// The codec's parameter sets can say "full range".
    var signalsRange: Bool
    /// Refuses a side that ends in the middle of a chroma sample.
    var wantsWholeChroma: Bool
    private let encoder: String

    init(encoder: String, codec: String) {
        self.encoder = encoder
        // libx265 wants fields as pictures of their own, and AV1 and VP9 have none.
        codesFields = ["libx264", "libx264rgb", "prores_ks", "prores", "prores_aw", "mpeg2video", "h264_qsv"]
            .contains(encoder)
        writesStaticHDR = ["libx264", "libx265", "libsvtav1"].contains(encoder)
        signalsRange = codec != "prores"
        wantsWholeChroma = ["libx264", "libx265"].contains(encoder)
    }

    /// - Parameters:
    ///   - target: the format that the encoder would be given.
    ///   - format: of the pictures.
    /// - Returns: one of the encoder's formats in which no side ends in the middle of a chroma sample.
    func pixelFormat(_ target: String, holding format: FrameFormat, among choices: [String]) throws(Failure) -> String {
        guard wantsWholeChroma, let traits = PixelFormatTraits(target) else { return target }
        let chroma = traits.subsampling
        if format.width % chroma.width == 0, format.height % chroma.height == 0 { return target }
        let whole = choices.first { choice in
            PixelFormatTraits(choice).map {
                $0.chroma == .full && !$0.isRGB && $0.depth == traits.depth && $0.isFullRange == traits.isFullRange
            } ?? false
        }
        if let whole { return whole }
        throw Failure(
            .encoder,
            "\(encoder) codes \(traits.chroma.rawValue) pictures only with even sides; those of the source are "
                + "\(format.width)×\(format.height).",
            advice: "Add --filter pad=ceil(iw/2)*2:ceil(ih/2)*2 (a black edge), or choose --video-codec vp9.",
            fault: .settings, exitCode: .usage)
    }
}
