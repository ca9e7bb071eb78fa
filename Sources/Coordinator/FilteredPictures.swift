internal import Media
internal import SourceAccess

/// What comes out of a chain when the first pictures go in: filters may change the colour, the fields and the shape of a pixel,
/// and only their pictures tell.
struct FilteredPictures {
    let format: FrameFormat
    let colour: ColourDescription
    let scan: CompressionSettings.Scan

    /// - Throws: `.filter` with the filter's own words.
    init(_ pictures: FirstPictures, _ chain: PictureChain) throws(MediaError) {
        let graph = try FilterGraph(description: chain.filter, input: pictures.format)
        guard let output = graph.outputFormat else {
            throw MediaError(.filter, .invalidSettings, "The filter “\(chain.filter)” delivers no picture.")
        }
        format = output
        guard !graph.isPassThrough else {
            colour = pictures.format.colour
            scan = pictures.scan
            return
        }
        var made: [Frame] = []
        for frame in pictures.frames where graph.accepts(frame) {
            try graph.process(frame) { (frame) throws(MediaError) in made.append(frame) }
        }
        try graph.finish { (frame) throws(MediaError) in made.append(frame) }
        let fallback = chain.mapsTone ? ToneMap.result : pictures.format.colour
        guard let first = made.first else {
            colour = fallback
            scan = chain.deinterlaces ? .progressive : pictures.scan
            return
        }
        colour = Self.colour(of: first, chain, fallback)
        if let fields = made.first(where: \.isInterlaced) {
            scan = fields.isTopFieldFirst ? .topFieldFirst : .bottomFieldFirst
        } else {
            scan = .progressive
        }
    }

    /// What a filter leaves unsaid was left as it was.
    private static func colour(
        of frame: Frame, _ chain: PictureChain, _ fallback: ColourDescription
    ) -> ColourDescription {
        let seen = frame.colour
        return ColourDescription(
            primaries: seen.primaries ?? fallback.primaries, transfer: seen.transfer ?? fallback.transfer,
            matrix: seen.matrix ?? fallback.matrix, range: seen.range ?? fallback.range,
            chromaLocation: seen.chromaLocation ?? fallback.chromaLocation)
    }
}
