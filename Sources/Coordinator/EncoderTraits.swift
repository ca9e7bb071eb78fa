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

    init(encoder: String, codec: String) {
        // libx265 wants fields as pictures of their own, and AV1 and VP9 have none.
        codesFields = ["libx264", "libx264rgb", "prores_ks", "prores", "prores_aw", "mpeg2video", "h264_qsv"]
            .contains(encoder)
        writesStaticHDR = ["libx264", "libx265", "libsvtav1"].contains(encoder)
        signalsRange = codec != "prores"
        wantsWholeChroma = ["libx264", "libx265"].contains(encoder)
    }
}
