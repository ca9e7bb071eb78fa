package import ClusterProtocol
package import Media
package import SegmentPlan

/// What the first pictures of an export are like: the container's word, completed and corrected by what the decoder makes of
/// them. Containers and parameter sets may say nothing (VP8's matrix), and dynamic metadata shows itself in pictures only.
package struct FirstPictures: Sendable {
    /// Enough for a field order and for metadata that not every picture repeats.
    private static let count = 4
    /// Samples that may give no picture before one is given up on.
    private static let patience = 512

    package private(set) var format: FrameFormat
    /// The first few, decoded; empty where none could be.
    package private(set) var frames: [Frame] = []
    package private(set) var scan: CompressionSettings.Scan
    package private(set) var masteringDisplay: MasteringDisplay?
    package private(set) var contentLight: ContentLight?
    package private(set) var hasHDR10Plus = false
    /// Pictures come with reference processing units.
    package private(set) var hasDolbyVision: Bool
    package private(set) var dolbyVision: DolbyVisionConfiguration?
    /// The container and the bit stream name different colours.
    package private(set) var colourConflict: String?

    /// As the container tells.
    /// - Returns: `nil` where it does not tell the pixel format.
    package init?(track: Track) {
        guard let format = track.frameFormat else { return nil }
        self.init(track, format)
    }

    private init(_ track: Track, _ format: FrameFormat) {
        self.format = format
        if let traits = PixelFormatTraits(format.pixelFormat), traits.isFullRange {
            self.format.colour.range = self.format.colour.range ?? "pc"
        }
        scan =
            switch track.fieldOrder {
            case .topFirst, .bottomCodedTopShown: .topFieldFirst
            case .bottomFirst, .topCodedBottomShown: .bottomFieldFirst
            case .unknown, .progressive: .progressive
            }
        for attachment in track.attachments {
            masteringDisplay = masteringDisplay ?? MasteringDisplay(attachment)
            contentLight = contentLight ?? ContentLight(attachment)
            dolbyVision = dolbyVision ?? DolbyVisionConfiguration(attachment)
        }
        hasDolbyVision = dolbyVision != nil
    }

    /// Decodes the first pictures of a segment; what cannot be decoded leaves the container's word.
    ///
    /// - Throws: exit code 65 where neither the container nor a decoder tells the pixel format.
    package init(_ reference: SourceReference, segment: Segment, interrupt: InterruptFlag) throws(Failure) {
        let session = try SourceSession(reference, interrupt: interrupt)
        let track = session.track
        let frames = try Self.decode(session, segment)
        guard let told = track.frameFormat ?? frames.first?.format else {
            throw Failure(
                .format, "The picture format of track \(track.index) (\(track.format.codecName)) is not known.",
                advice: "`weft probe` shows what the file holds.", exitCode: .badSource)
        }
        self.init(track, told)
        self.format.timeBase = track.timeBase
        learn(from: frames)
    }

    private static func decode(_ session: SourceSession, _ segment: Segment) throws(Failure) -> [Frame] {
        guard let decoder = try? DecompressionSession(format: session.track.format, timeBase: session.track.timeBase)
        else { return [] }
        var frames: [Frame] = []
        func take(_ frame: Frame) {
            guard let pts = frame.pts, pts >= segment.start, frames.last?.pts.map({ $0 < pts }) ?? true else { return }
            frames.append(frame)
        }
        try session.begin(segment)
        var samples = 0
        while frames.count < count, samples < patience, let sample = try session.next() {
            samples += 1
            // A sample that gives no picture tells nothing.
            try? decoder.decode(sample, output: take)
        }
        if frames.count < count { try? decoder.finish(output: take) }
        return Array(frames.prefix(count))
    }

    private mutating func learn(from frames: [Frame]) {
        self.frames = frames
        guard let first = frames.first else { return }
        let told = format.colour
        let seen = first.colour
        format.colour = ColourDescription(
            primaries: seen.primaries ?? told.primaries, transfer: seen.transfer ?? told.transfer,
            matrix: seen.matrix ?? told.matrix, range: seen.range ?? told.range,
            chromaLocation: seen.chromaLocation ?? told.chromaLocation)
        colourConflict = Self.conflict(told, format.colour)
        (format.width, format.height, format.pixelFormat) = (first.width, first.height, first.pixelFormat)
        format.sampleAspectRatio = format.sampleAspectRatio ?? first.sampleAspectRatio
        if let fields = frames.first(where: \.isInterlaced) {
            scan = fields.isTopFieldFirst ? .topFieldFirst : .bottomFieldFirst
        }
        for frame in frames {
            let kinds = frame.attachmentKinds
            hasHDR10Plus = hasHDR10Plus || kinds.contains(.hdr10Plus)
            hasDolbyVision = hasDolbyVision || kinds.contains(.dolbyVisionRPU)
        }
        // The bit stream's own values go first: they are the ones that the pictures were coded with.
        masteringDisplay = first.attachment(.masteringDisplay).flatMap { MasteringDisplay($0) } ?? masteringDisplay
        contentLight = first.attachment(.contentLight).flatMap { ContentLight($0) } ?? contentLight
    }

    private static func conflict(_ told: ColourDescription, _ seen: ColourDescription) -> String? {
        func differ(_ left: String?, _ right: String?) -> Bool {
            guard let left, let right else { return false }
            return left != right
        }
        let pairs = [
            ("primaries", told.primaries, seen.primaries), ("transfer", told.transfer, seen.transfer),
            ("matrix", told.matrix, seen.matrix), ("range", told.range, seen.range),
        ].filter { differ($0.1, $0.2) }
        guard !pairs.isEmpty else { return nil }
        let list = pairs.map { "\($0.0) \($0.1 ?? "") against \($0.2 ?? "")" }.joined(separator: ", ")
        return "The container and the pictures name different colours (\(list)); the pictures' own are kept."
    }
}
