internal import Media
internal import SourceAccess

/// Closed captions (CEA-608 and 708) inside the pictures: whether the encoder writes them again (ATSC A/53 part 4, ETSI TS 101 154).
struct CaptionCarriage {
    private(set) var losses: [String] = []
    /// They are there, and are written again.
    private(set) var areCarried = false

    init(_ pictures: FirstPictures?, encoder: String) {
        guard let pictures, pictures.frames.contains(where: { $0.attachmentKinds.contains(.captions) }) else { return }
        areCarried = encoder == "libx265" || EncoderCatalog.writesCaptions(encoder)
        guard !areCarried else { return }
        losses = [
            "The closed captions inside the pictures are not carried: \(encoder) does not write them; libx264 and libx265 do."
        ]
    }
}
