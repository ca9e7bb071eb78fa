internal import ClusterProtocol
internal import Media
internal import SourceAccess
internal import Stitching

/// What of the source reaches the output, and how: the counterpart of the losses, from the same decisions.
struct CarriageList {
    private(set) var items: [CarriedItem] = []
    private let stitch: StitchJob
    private let recipe: EncodeRecipe

    /// - Parameters:
    ///   - codec: of the output's picture.
    ///   - pictures: the first ones; `nil` where they are copied unseen.
    init(_ planned: PlannedExport, codec: String, pictures: FirstPictures?, mapsTone: Bool, hasCaptions: Bool) {
        (stitch, recipe) = (planned.stitch, planned.recipe)
        guard stitch.tracks.indices.contains(stitch.videoTrack) else { return }
        let video = stitch.tracks[stitch.videoTrack]
        add(video, .video, stitch.copiesPicture ? .copied : .encoded, to: codec)
        for carried in stitch.carried where stitch.tracks.indices.contains(carried.track) { add(carried) }
        addMarks(hasCaptions: hasCaptions)
        addHDR(video, codec: codec, pictures, mapsTone: mapsTone)
        let tags = stitch.metadata.filter { $0.key.lowercased() != "timecode" }.count
        if tags > 0 { items.append(CarriedItem(.tags, .copied, count: tags)) }
    }

    // MARK: Tracks

    private mutating func add(_ track: Track, _ kind: CarriedItem.Kind, _ how: CarriedItem.How, to: String? = nil) {
        // Some data has no codec that libavcodec knows, but a name in the file.
        let codec = track.format.codecName
        let name = ["none", ""].contains(codec) ? track.format.codecTag : codec
        let tags = stitch.tags(of: track)
        items.append(
            CarriedItem(
                kind, how, track: track.index, from: name, to: to ?? name, language: track.language,
                title: tags["title"] ?? tags["filename"]))
    }

    private mutating func add(_ carried: CarriedTrack) {
        let track = stitch.tracks[carried.track]
        let kind: CarriedItem.Kind =
            switch track.mediaType {
            case .video: carried.isEnclosure ? .cover : .video
            case .audio: .audio
            case .subtitle: .subtitle
            case .attachment: .attachment
            case .data, .unknown: carried.isEnclosure ? .attachment : .data
            }
        if let encoding = carried.encoding {
            let codec = EncoderCatalog.encoder(named: encoding.encoder)?.codecName
            add(track, kind, .encoded, to: codec ?? encoding.encoder)
        } else if let encoder = carried.textEncoder {
            add(track, kind, .converted, to: encoder)
        } else {
            add(track, kind, .copied)
        }
    }

    // MARK: What has no track of its own

    private mutating func addMarks(hasCaptions: Bool) {
        let container = stitch.container
        if !stitch.chapters.isEmpty, container != .mpegTS {
            items.append(CarriedItem(.chapters, .copied, count: stitch.chapters.count))
        }
        if let code = stitch.timecode {
            let hasTrack = stitch.tracks.contains { $0.format.codecTag == "tmcd" }
            let (from, to) = ("time code track", "tag")
            let (source, target) = (hasTrack ? from : to, container.isMovie ? from : to)
            items.append(
                CarriedItem(.timecode, source == target ? .copied : .converted, from: source, to: target, title: code))
        }
        if hasCaptions { items.append(CarriedItem(.captions, .inVideo, from: "CEA-608/708")) }
    }

    private mutating func addHDR(_ video: Track, codec: String, _ pictures: FirstPictures?, mapsTone: Bool) {
        let colour = pictures?.format.colour ?? video.frameFormat?.colour
        let range = colour.flatMap { $0.isHighDynamicRange ? $0.transfer == "smpte2084" ? "PQ" : "HLG" : nil }
        if mapsTone {
            if let range { items.append(CarriedItem(.hdr, .converted, from: range, to: "BT.709")) }
            return
        }
        var names = [range].compactMap(\.self)
        let isCopy = stitch.copiesPicture
        func holds(_ kind: Attachment.Kind) -> Bool { video.attachments.contains { $0.kind == kind } }
        let isStaticHeld =
            isCopy || stitch.container != .mpegTS
            || EncoderTraits(encoder: recipe.encoder, codec: codec).writesStaticHDR
        if isStaticHeld {
            if isCopy ? holds(.masteringDisplay) : recipe.masteringDisplay != nil { names.append("mastering display") }
            if isCopy ? holds(.contentLight) : recipe.contentLight != nil { names.append("content light level") }
        }
        if recipe.carriesHDR10Plus { names.append("HDR10+") }
        if isCopy ? holds(.dolbyVision) : recipe.carriesDolbyVision { names.append("Dolby Vision") }
        items += names.map { CarriedItem(.hdr, .inVideo, from: $0) }
    }
}
