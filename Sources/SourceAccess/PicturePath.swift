package import ClusterProtocol
package import Media

/// What a recipe makes of a track's pictures: the filter chain and the encoder, built alike wherever it is done.
package struct PicturePath: Sendable {
    private let recipe: EncodeRecipe
    private let track: Track

    package init(recipe: EncodeRecipe, track: Track) {
        self.recipe = recipe
        self.track = track
    }

    /// The chain for pictures of this format.
    ///
    /// A source whose size changes on the way is scaled to the size it began with.
    package func makeGraph(for input: FrameFormat) throws(MediaError) -> FilterGraph {
        var description = recipe.filter
        if let first = track.frameFormat, (input.width, input.height) != (first.width, first.height) {
            description = [description, "scale=\(recipe.width):\(recipe.height)"].filter { !$0.isEmpty }.joined(
                separator: ",")
        }
        return try FilterGraph(description: description, input: input, outputPixelFormat: recipe.pixelFormat)
    }

    /// The encoder for what the chain delivers.
    package func makeEncoder(for output: FrameFormat) throws(MediaError) -> CompressionSession {
        var format = output
        format.width = recipe.width
        format.height = recipe.height
        format.pixelFormat = recipe.pixelFormat
        format.timeBase = recipe.timeBase
        format.frameRate = Rational(recipe.frameRateNumerator, recipe.frameRateDenominator)
        var settings = CompressionSettings(encoder: recipe.encoder, video: format)
        settings.bitrate = recipe.bitrate
        settings.options = recipe.options
        settings.threads = recipe.threads
        settings.globalHeader = recipe.globalHeader
        return try CompressionSession(settings: settings)
    }

    /// The format the track's pictures begin with.
    package func initialFormat() throws(MediaError) -> FrameFormat {
        guard var format = track.frameFormat else {
            throw MediaError(
                .format, .unsupported,
                "Nothing tells the pixel format of track \(track.index) (\(track.format.codecName)).")
        }
        format.timeBase = recipe.timeBase
        return format
    }
}
