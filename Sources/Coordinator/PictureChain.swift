internal import ClusterProtocol
internal import Media

/// The filter chain that brings the source's pictures to what was asked for, before the conversion to what an encoder takes:
/// crop as the container asks, deinterlace, tone-map, turn, then the user's own filter.
struct PictureChain: Hashable, Sendable {
    /// What decides the chain besides the settings.
    struct Source: Hashable, Sendable {
        var format: FrameFormat
        var scan: CompressionSettings.Scan = .progressive
        var masteringDisplay: MasteringDisplay?
        var contentLight: ContentLight?
        /// Nine numbers, ISO/IEC 14496-12 §8.3.2.
        var transform: [Int32]?
        var cropping: PictureCropping?
    }

    private(set) var filter = ""
    private(set) var margin = 0
    private(set) var keepsFrames = true
    private(set) var deinterlaces = false
    private(set) var mapsTone = false
    /// The pixels are turned: the rotation must not be carried as well.
    private(set) var turnsPixels = false
    private(set) var warnings: [String] = []

    init(_ settings: ExportSettings, source: Source) throws(Failure) {
        var parts = cropper(source)
        if let filter = deinterlacer(settings, source) { parts.append(filter) }
        if settings.toneMapping != nil, let filter = toneMapper(source) { parts.append(filter) }
        if settings.appliesRotation, let filter = try turner(source) { parts.append(filter) }
        if let filter = settings.filter { parts.append(filter) }
        filter = parts.joined(separator: ",")
        let traits = FilterTraits(filter)
        keepsFrames = traits.keepsFrames
        margin = settings.filterMargin ?? traits.margin
        if !keepsFrames {
            warnings.append(
                "The filter may add, drop or move frames: the proof compares the output with the encoded frames, not with the "
                    + "source's.")
        }
    }

    // MARK: Parts

    /// As a player does that honours the container. Copied, the picture would keep what nobody is meant to see.
    private mutating func cropper(_ source: Source) -> [String] {
        guard let cropping = source.cropping else { return [] }
        let format = source.format
        guard
            let kept = cropping.rectangle(
                width: format.width, height: format.height, pixelFormat: format.pixelFormat,
                isInterlaced: source.scan != .progressive)
        else {
            warnings.append(
                "The container's cropping (\(cropping.description)) is for pictures of \(cropping.width)×\(cropping.height) and "
                    + "is not applied: they are \(format.width)×\(format.height).")
            return []
        }
        var note =
            "The container's cropping is applied (\(cropping.description)): "
            + "\(format.width)×\(format.height) becomes \(kept.width)×\(kept.height)."
        if kept != cropping.wanted {
            note +=
                " Exactly it would be \(cropping.wanted.width)×\(cropping.wanted.height); what shares its colour samples"
                + (source.scan == .progressive ? "" : " or its pair of fields") + " with a wanted pixel is kept."
        }
        warnings.append(note)
        return [kept.filter] + (cropping.sampleAspectRatio.map { ["setsar=sar=\($0)"] } ?? [])
    }

    private mutating func deinterlacer(_ settings: ExportSettings, _ source: Source) -> String? {
        switch settings.deinterlace ?? "off" {
        case "off": return nil
        case "auto":
            guard source.scan != .progressive else { return nil }
            deinterlaces = true
            // Frames that are not flagged interlaced pass as they are.
            return "bwdif=mode=send_frame:parity=auto:deint=interlaced"
        case let filter:
            deinterlaces = true
            return filter
        }
    }

    private mutating func toneMapper(_ source: Source) -> String? {
        let colour = source.format.colour
        guard colour.isHighDynamicRange, let transfer = colour.transfer else {
            warnings.append("--tonemap has no effect: the source is not PQ or HLG.")
            return nil
        }
        mapsTone = true
        return ToneMap(colour: colour, transfer: transfer, pixelFormat: source.format.pixelFormat, peak: peak(source))
            .filter
    }

    /// The brightest light of the programme as a multiple of the 100 cd/m² that BT.709 white stands for; one value for the whole
    /// job, so that segments are mapped alike.
    private func peak(_ source: Source) -> Double {
        if let light = source.contentLight, light.maximum > 0 { return max(1, Double(light.maximum) / 100) }
        if let display = source.masteringDisplay, display.maximumLuminance > 0 {
            return max(1, Double(display.maximumLuminance) / 1_000_000)
        }
        return 10
    }

    private mutating func turner(_ source: Source) throws(Failure) -> String? {
        guard let transform = source.transform else { return nil }
        guard let orientation = Orientation(matrix: transform) else {
            throw Failure(
                .format, "The source's display matrix turns by no multiple of 90 degrees.",
                advice: "Leave out --apply-rotation to carry the matrix, or use --filter rotate=….", fault: .settings,
                exitCode: .usage)
        }
        guard orientation != .upright else { return nil }
        guard source.scan == .progressive || deinterlaces || !orientation.exchangesAxes else {
            throw Failure(
                .format, "An interlaced picture cannot be turned by 90 degrees.",
                advice: "Add --deinterlace auto.", fault: .settings, exitCode: .usage)
        }
        turnsPixels = true
        return orientation.filter
    }
}

/// PQ or HLG down to BT.709, in linear light.
struct ToneMap: Hashable, Sendable {
    var colour: ColourDescription
    var transfer: String
    var pixelFormat: String
    var peak: Double

    /// Limited-range BT.709 with 8 bits; the chroma's resolution is kept.
    static let result = ColourDescription(
        primaries: "bt709", transfer: "bt709", matrix: "bt709", range: "tv", chromaLocation: "left")

    var filter: String {
        let matrix = colour.matrix ?? "bt2020nc"
        let primaries = colour.primaries ?? "bt2020"
        let range = colour.range == "pc" ? "full" : "limited"
        let chroma =
            switch PixelFormatTraits(pixelFormat)?.chroma {
            case .half: "yuv422p"
            case .full: "yuv444p"
            default: "yuv420p"
            }
        let input =
            "tin=\(transfer):min=\(matrix):pin=\(primaries):rin=\(range)"
            + (colour.chromaLocation.map { ":cin=\($0)" } ?? "")
        return [
            "zscale=\(input):t=linear:npl=100", "format=gbrpf32le", "zscale=p=bt709",
            "tonemap=tonemap=hable:desat=0:peak=\(peak)", "zscale=t=bt709:m=bt709:r=limited:c=left:d=error_diffusion",
            "format=\(chroma)",
        ].joined(separator: ",")
    }
}
