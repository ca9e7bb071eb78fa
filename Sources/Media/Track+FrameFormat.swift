internal import CFFmpeg
package import MediaTime

extension FormatDescription {
    /// The colour that the container or the parameter sets state.
    public var colour: ColourDescription {
        let p = parameters.pointee
        return ColourDescription(
            ColourCodes(
                primaries: p.color_primaries, transfer: p.color_trc, matrix: p.color_space, range: p.color_range,
                chromaLocation: p.chroma_location))
    }

    /// What pictures of this format will be; `nil` for what is no picture or whose pixel format nothing tells.
    package func frameFormat(timeBase: TimeBase, frameRate: Rational?, sampleAspectRatio: Rational?) -> FrameFormat? {
        guard mediaType == .video, width > 0, height > 0, let pixelFormat else { return nil }
        return FrameFormat(
            width: width, height: height, pixelFormat: pixelFormat, timeBase: timeBase, frameRate: frameRate,
            sampleAspectRatio: sampleAspectRatio, colour: colour)
    }
}

extension Track {
    /// What the track's pictures will be, as far as it is known before the first one is decoded; `nil` for a track that is no
    /// picture or whose pixel format nothing tells.
    public var frameFormat: FrameFormat? {
        format.frameFormat(
            timeBase: timeBase, frameRate: averageFrameRate ?? realFrameRate, sampleAspectRatio: sampleAspectRatio)
    }
}
