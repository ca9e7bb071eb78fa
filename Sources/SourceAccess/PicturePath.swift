package import ClusterProtocol
package import Media

/// What a recipe makes of a track's pictures: the filter chain and the encoder, built alike wherever it is done.
package struct PicturePath: Sendable {
    private let recipe: EncodeRecipe
    private let picture: SourcePicture

    package init(recipe: EncodeRecipe, picture: SourcePicture) {
        self.recipe = recipe
        self.picture = picture
    }

    /// The chain for pictures of this format.
    ///
    /// A source that changes its size or pixel format on the way is brought back to what it began with, so that every filter
    /// sees the same pictures.
    package func makeGraph(for input: FrameFormat) throws(MediaError) -> FilterGraph {
        let first = try initialFormat()
        var chain = [recipe.filter]
        if (input.width, input.height, input.pixelFormat) != (first.width, first.height, first.pixelFormat) {
            var conversion =
                "scale=\(first.width):\(first.height):interl=-1:flags=bicubic+accurate_rnd+full_chroma_int+bitexact"
            if let range = first.colour.range { conversion += ":out_range=\(range)" }
            chain = [conversion, "format=\(first.pixelFormat)"]
            if let aspect = first.sampleAspectRatio {
                chain.append("setsar=\(aspect.numerator)/\(aspect.denominator)")
            }
            chain.append(recipe.filter)
        }
        let description = chain.filter { !$0.isEmpty }.joined(separator: ",")
        return try FilterGraph(description: description, input: input, outputPixelFormat: recipe.pixelFormat)
    }

    /// The encoder for what the chain delivers.
    package func makeEncoder() throws(MediaError) -> CompressionSession {
        let format = FrameFormat(
            width: recipe.width, height: recipe.height, pixelFormat: recipe.pixelFormat, timeBase: recipe.timeBase,
            frameRate: Rational(recipe.frameRateNumerator, recipe.frameRateDenominator),
            sampleAspectRatio: recipe.aspect.flatMap { Rational($0) }, colour: ColourDescription(recipe.colour))
        var settings = CompressionSettings(encoder: recipe.encoder, video: format)
        settings.scan = CompressionSettings.Scan(recipe.scan)
        settings.bitrate = recipe.bitrate
        settings.options = recipe.options
        settings.threads = recipe.threads
        settings.globalHeader = recipe.globalHeader
        settings.masteringDisplay = recipe.masteringDisplay.flatMap { MasteringDisplay($0) }
        settings.contentLight = recipe.contentLight.map {
            ContentLight(maximum: $0.maximum, maximumFrameAverage: $0.maximumFrameAverage)
        }
        return try CompressionSession(settings: settings)
    }

    /// The format the track's pictures begin with.
    package func initialFormat() throws(MediaError) -> FrameFormat {
        if let source = recipe.source {
            return FrameFormat(
                width: source.width, height: source.height, pixelFormat: source.pixelFormat,
                timeBase: recipe.timeBase, frameRate: picture.frameRate,
                sampleAspectRatio: source.aspect.flatMap { Rational($0) }, colour: ColourDescription(source.colour))
        }
        guard var format = picture.frameFormat else {
            throw MediaError(
                .format, .unsupported,
                "Nothing tells the pixel format of the picture (\(picture.format.codecName)).")
        }
        format.timeBase = recipe.timeBase
        return format
    }
}
