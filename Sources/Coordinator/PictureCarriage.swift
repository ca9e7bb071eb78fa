internal import ClusterProtocol
internal import Media
internal import SourceAccess

/// What of the picture's side data reaches the output, by which way, and what does not.
struct PictureCarriage {
    private(set) var masteringDisplay: MasteringDisplay?
    private(set) var contentLight: ContentLight?
    private(set) var attachments: [Attachment] = []
    private(set) var warnings: [String] = []
    private(set) var losses: [String] = []

    /// Side data of a whole track that stays true of pictures that are encoded anew.
    private static let lasting: Set<Attachment.Kind> = [.displayMatrix, .stereo3D, .spherical, .activeFormat]

    init(
        track: Track, pictures: FirstPictures, chain: PictureChain, container: Container, encoder: String,
        traits: EncoderTraits, scan: CompressionSettings.Scan, carriesDolbyVision: Bool
    ) {
        attachments = track.attachments.filter { Self.lasting.contains($0.kind) }
        if carriesDolbyVision { attachments += track.attachments.filter { $0.kind == .dolbyVision } }
        if chain.turnsPixels { attachments.removeAll { $0.kind == .displayMatrix } }
        if !chain.turnsPixels { losses += Self.rotationLoss(track, container) }
        if let conflict = pictures.colourConflict { warnings.append(conflict) }
        if scan != .progressive, !traits.codesFields {
            losses.append(
                "The pictures are interlaced and \(encoder) codes whole frames: the field order is not carried. "
                    + "--deinterlace auto makes them progressive; libx264 and prores_ks code fields.")
        }
        if chain.mapsTone {
            warnings.append(
                "The high dynamic range is mapped to BT.709; what described it (mastering display, light level, dynamic "
                    + "metadata) no longer applies and is left out.")
        } else {
            carryStaticHDR(pictures, container, encoder, traits)
        }
    }

    private mutating func carryStaticHDR(
        _ pictures: FirstPictures, _ container: Container, _ encoder: String, _ traits: EncoderTraits
    ) {
        masteringDisplay = pictures.masteringDisplay
        contentLight = pictures.contentLight
        attachments += [masteringDisplay?.attachment, contentLight?.attachment].compactMap { $0 }
        guard masteringDisplay != nil || contentLight != nil, !traits.writesStaticHDR else { return }
        let what = "The mastering display and content light level"
        if container == .mpegTS {
            losses.append(
                "\(what) are not carried: \(encoder) does not write them and \(container) has no place for them.")
        } else {
            warnings.append("\(what) are written to the container only: \(encoder) does not write them.")
        }
    }

    // MARK: Cropping

    /// A picture that is copied keeps all its pixels: the container would have to say which are not to be seen.
    static func croppingLoss(_ cropping: PictureCropping?, of track: Track, _ container: Container) -> [String] {
        guard let cropping else { return [] }
        let isKept = container.holdsCropping && track.attachments.contains { $0.kind == .frameCropping }
        return isKept
            ? []
            : [
                "The cropping of track \(track.index) (\(cropping.description)) is not carried: \(container) holds none here, and the picture is copied. "
                    + "Encoding it (without --video-codec copy) cuts it off."
            ]
    }

    // MARK: Rotation

    /// MP4 and QuickTime hold a display matrix; this build of libavformat writes none into the others.
    static func rotationLoss(_ track: Track, _ container: Container) -> [String] {
        guard !container.isMovie, let transform = track.transform else { return [] }
        let turn: String
        switch Orientation(matrix: transform) {
        case .upright: return []
        case .mirrored, .flipped: turn = "mirroring"
        case .transposed: turn = "mirroring with a rotation by 270 degrees"
        case .antitransposed: turn = "mirroring with a rotation by 90 degrees"
        default: turn = "rotation by \(Int(track.rotation.rounded())) degrees"
        }
        return ["The \(turn) is not carried: \(container) holds none here. --apply-rotation turns the pixels instead."]
    }
}
