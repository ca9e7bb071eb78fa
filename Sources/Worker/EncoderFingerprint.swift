internal import ClusterProtocol
internal import Media
internal import SourceAccess

/// What a recipe's encoder makes of a few reference frames on this machine: equal answers encode alike.
enum EncoderFingerprint {
    private static let frames = 5

    /// Hash over the extradata and the samples.
    static func make(of recipe: EncodeRecipe) throws(Failure) -> String {
        do throws(MediaError) {
            return try hash(recipe)
        } catch {
            throw Failure(error, role: .encode)
        }
    }

    private static func hash(_ recipe: EncodeRecipe) throws(MediaError) -> String {
        let format = FrameFormat(
            width: recipe.width, height: recipe.height, pixelFormat: recipe.pixelFormat, timeBase: recipe.timeBase,
            frameRate: Rational(recipe.frameRateNumerator, recipe.frameRateDenominator))
        var settings = CompressionSettings(encoder: recipe.encoder, video: format)
        settings.bitrate = recipe.bitrate
        settings.options = recipe.options
        settings.threads = recipe.threads
        settings.globalHeader = recipe.globalHeader
        let encoder = try CompressionSession(settings: settings)
        let pool = try PixelBufferPool(format: format)
        var hash = ContentHash()
        hash.update(encoder.format.extradata)
        for number in 0..<frames {
            let frame = try picture(number, from: pool, format: format)
            try encoder.encode(frame, forceKeyframe: number == 0) { (sample) throws(MediaError) in
                sample.withUnsafeBytes { hash.update($0) }
            }
        }
        try encoder.finish { (sample) throws(MediaError) in sample.withUnsafeBytes { hash.update($0) } }
        return hash.finish()
    }

    /// Moving slopes under noise, so that prediction, transform and quantization all have work.
    private static func picture(
        _ number: Int, from pool: PixelBufferPool, format: FrameFormat
    ) throws(MediaError) -> Frame {
        var buffer = try pool.makeBuffer()
        let mask = highByteMask(format.pixelFormat)
        for plane in 0..<buffer.planeCount {
            _ = buffer.withMutablePlane(plane) { bytes, layout in
                var noise = UInt32(truncatingIfNeeded: 2_463_534_242 &+ plane &* 97 &+ number &* 131)
                for row in 0..<layout.rows {
                    for column in 0..<layout.rowBytes {
                        // Marsaglia's xorshift32.
                        noise ^= noise << 13
                        noise ^= noise >> 17
                        noise ^= noise << 5
                        let slope = (column + 2 * row + 5 * number) >> 1
                        let value = UInt8(truncatingIfNeeded: slope &+ Int(noise & 15))
                        bytes[row * layout.stride + column] = mask.apply(value, at: column)
                    }
                }
            }
        }
        let rate = max(1, Int64(format.timeBase.numerator) * Int64(format.frameRate?.numerator ?? 25))
        let step = max(1, Int64(format.timeBase.denominator) * Int64(format.frameRate?.denominator ?? 1) / rate)
        return buffer.frame(pts: Int64(number) * step, duration: step, timeBase: format.timeBase)
    }

    /// Encoders index tables by sample values: those of 9 to 14 bits must stay in range.
    private struct SampleMask {
        var high: UInt8 = 0xFF
        var isWide = false
        var isBigEndian = false

        func apply(_ value: UInt8, at column: Int) -> UInt8 {
            guard isWide, column % 2 == (isBigEndian ? 0 : 1) else { return value }
            return value & high
        }
    }

    private static func highByteMask(_ pixelFormat: String) -> SampleMask {
        guard pixelFormat.hasSuffix("le") || pixelFormat.hasSuffix("be") else { return SampleMask() }
        let bits = [9, 10, 12, 14, 16].first { pixelFormat.dropLast(2).hasSuffix("\($0)") } ?? 16
        return SampleMask(
            high: bits >= 16 ? 0xFF : UInt8((1 << (bits - 8)) - 1), isWide: true,
            isBigEndian: pixelFormat.hasSuffix("be"))
    }
}
