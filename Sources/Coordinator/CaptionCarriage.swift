internal import Media
internal import SourceAccess

/// Closed captions (CEA-608 and 708) inside the pictures: whether the encoder writes them again (ATSC A/53 part 4, ETSI TS 101 154).
struct CaptionCarriage {
    private(set) var losses: [String] = []
    /// They are there, and are written again.
    private(set) var areCarried = false
    /// What is lost should captions come up behind the first pictures, which only reading the whole source shows.
    private(set) var laterLoss: String?

    init(_ pictures: FirstPictures?, encoder: String) {
        guard let pictures else { return }
        let isSeen = pictures.frames.contains { $0.attachmentKinds.contains(.captions) }
        let areWritten = encoder == "libx265" || EncoderCatalog.writesCaptions(encoder)
        areCarried = isSeen && areWritten
        guard !areWritten else { return }
        let loss =
            "The closed captions inside the pictures are not carried: \(encoder) does not write them; libx264 and libx265 do."
        if isSeen { losses = [loss] } else { laterLoss = loss }
    }
}
