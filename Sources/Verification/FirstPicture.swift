internal import ClusterProtocol
internal import Media

/// What a track's first decoded picture and its container say of how pictures are to be shown. Parameter sets and messages
/// inside the stream are seen by a decoder only.
struct FirstPicture {
    static let dynamicKinds: [(Attachment.Kind, String)] = [
        (.hdr10Plus, "HDR10+ metadata"), (.dolbyVisionRPU, "Dolby Vision metadata"),
        (.dolbyVision, "The Dolby Vision configuration"),
    ]

    private(set) var colour: ColourDescription
    private(set) var pixelFormat: String?
    private(set) var kinds: Set<Attachment.Kind> = []
    private(set) var masteringDisplay: MasteringDisplay?
    private(set) var contentLight: ContentLight?
    private(set) var isInterlaced = false
    /// Of the picture itself; `nil` where none was decoded.
    private(set) var size: Track.Size?
    /// A picture was decoded.
    private(set) var isKnown = false

    /// The pixel format holds red, green and blue.
    var isRGB: Bool { pixelFormat.flatMap { PixelFormatTraits($0) }?.isRGB ?? false }

    init(_ location: String, track: Track, interrupt: InterruptFlag) throws(Failure) {
        colour = track.format.colour
        pixelFormat = track.format.pixelFormat
        note(track.attachments)
        let reader: PictureReader
        do {
            reader = try PictureReader(location: location, track: track.index, threads: 1, interrupt: interrupt)
        } catch {
            // Without a decoder the container's word is all there is.
            guard error.boundary == .decoder else { throw error }
            return
        }
        guard let frame = try reader.next() else { return }
        isKnown = true
        pixelFormat = frame.pixelFormat
        isInterlaced = frame.isInterlaced
        size = Track.Size(width: frame.width, height: frame.height)
        let inside = frame.colour
        colour.primaries = colour.primaries ?? inside.primaries
        colour.transfer = colour.transfer ?? inside.transfer
        colour.matrix = colour.matrix ?? inside.matrix
        colour.range = colour.range ?? inside.range
        colour.chromaLocation = colour.chromaLocation ?? inside.chromaLocation
        note(frame.attachments)
    }

    private mutating func note(_ attachments: [Attachment]) {
        for attachment in attachments {
            kinds.insert(attachment.kind)
            masteringDisplay = masteringDisplay ?? MasteringDisplay(attachment)
            contentLight = contentLight ?? ContentLight(attachment)
        }
    }
}
