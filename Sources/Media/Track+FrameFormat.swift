internal import CFFmpeg

extension FormatDescription {
    /// The colour that the container or the parameter sets state.
    public var colour: ColourDescription {
        let p = parameters.pointee
        return ColourDescription(
            ColourCodes(
                primaries: p.color_primaries, transfer: p.color_trc, matrix: p.color_space, range: p.color_range,
                chromaLocation: p.chroma_location))
    }
}

extension Track {
    /// What the track's pictures will be, as far as it is known before the first one is decoded; `nil` for a track that is no
    /// picture or whose pixel format nothing tells.
    public var frameFormat: FrameFormat? {
        guard mediaType == .video, format.width > 0, format.height > 0, let pixelFormat = format.pixelFormat else {
            return nil
        }
        return FrameFormat(
            width: format.width, height: format.height, pixelFormat: pixelFormat, timeBase: timeBase,
            frameRate: averageFrameRate ?? realFrameRate, sampleAspectRatio: sampleAspectRatio, colour: format.colour)
    }
}
