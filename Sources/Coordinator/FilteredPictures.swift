internal import ClusterProtocol
internal import Foundation
internal import Media
internal import SourceAccess
internal import Synchronization

/// What comes out of a chain when the first pictures go in: filters may change the colour, the fields and the shape of a pixel,
/// and only their pictures tell.
struct FilteredPictures: Sendable {
    let format: FrameFormat
    let colour: ColourDescription
    let scan: CompressionSettings.Scan

    /// - Parameter patience: seconds that the filter may take.
    /// - Throws: `.filter` with the filter's own words; `Failure` where it hangs.
    static func make(_ pictures: FirstPictures, _ chain: PictureChain, patience: Double) throws -> FilteredPictures {
        guard !chain.filter.isEmpty else { return try FilteredPictures(pictures, chain) }
        let result = ThreadResult()
        let done = DispatchSemaphore(value: 0)
        // A filter that hangs cannot be stopped: only its thread is lost.
        let thread = Thread {
            let made = Result { () throws(MediaError) in try FilteredPictures(pictures, chain) }
            result.made.withLock { $0 = made }
            done.signal()
        }
        thread.name = "weft-preview"
        thread.stackSize = 8 << 20
        thread.start()
        _ = done.wait(timeout: .now() + patience)
        guard let made = result.made.withLock({ $0 }) else {
            throw Failure(
                .filter, "The filter “\(chain.filter)” has not finished the first pictures after \(Int(patience)) s.",
                advice: "Give it more time with --stall-limit, or use another filter.", fault: .settings,
                exitCode: .usage)
        }
        return try made.get()
    }

    private final class ThreadResult: Sendable {
        let made = Mutex<Result<FilteredPictures, MediaError>?>(nil)
    }

    private init(_ pictures: FirstPictures, _ chain: PictureChain) throws(MediaError) {
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
