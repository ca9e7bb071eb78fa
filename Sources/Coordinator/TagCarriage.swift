internal import Foundation
internal import Media
internal import Stitching

/// Which tags of the source reach the output, in which form, and which do not.
struct TagCarriage {
    private(set) var file = Metadata()
    /// By index of the source's track.
    private(set) var tracks: [Int: Metadata] = [:]
    private(set) var losses: [String] = []
    /// A movie's tags are written as keys with values (QuickTime metadata), which may be any, instead of the fixed few.
    private(set) var usesMetadataKeys = false
    private let container: Container
    private let languageTags: [Int: String]

    /// - Parameters:
    ///   - source: the source's tags and tracks; `carried` are those that the output has, the picture among them.
    ///   - languageTags: BCP 47, by track.
    init(
        file source: Metadata, carried: [Track], languageTags: [Int: String] = [:], container: Container, hasCover: Bool
    ) {
        self.container = container
        self.languageTags = languageTags
        file = Self.content(of: source)
        if container.isMovie {
            let others = file.filter { !fixedKeys.contains($0.key.lowercased()) }
            // Covers are written only beside the fixed tags.
            usesMetadataKeys = !others.isEmpty && !hasCover
            if hasCover { lose(others.map(\.key)) }
        } else if container == .mpegTS {
            let held: Set = ["title", "service_name", "service_provider", "creation_time"]
            lose(file.map(\.key).filter { !held.contains($0.lowercased()) })
        }
        for track in carried { choose(track) }
    }

    private mutating func lose(_ keys: [String], of track: Track? = nil) {
        let place = track.map { " of track \($0.index)" } ?? ""
        losses += keys.map { "The tag “\($0)”\(place) is not carried: \(container) has no place for it." }
        if track == nil { file = file.removing(Set(keys)) }
    }

    private mutating func choose(_ track: Track) {
        var tags = Self.content(of: track.metadata).removing(["creation_time"])
        if let language = track.language { tags["language"] = language }
        let title = tags["title"] ?? Self.spokenTitle(track)
        let isEnclosed = track.mediaType == .attachment || track.disposition.contains(.attachedPicture)
        if container.isMatroska {
            if tags["title"] == nil, let title { tags["title"] = title }
            if isEnclosed {
                for key in ["filename", "mimetype"] { tags[key] = track.metadata[key] }
            }
        } else {
            let held: Set = container.isMovie ? ["language", "title"] : ["language"]
            if !isEnclosed { lose(tags.map(\.key).filter { !held.contains($0.lowercased()) }, of: track) }
            // Where most programs look for a movie track's name.
            if container.isMovie { tags["handler_name"] = title ?? track.metadata["handler_name"] }
        }
        tracks[track.index] = tags
        guard !isEnclosed else { return }
        // libavformat has the three letters of ISO 639-2 for all containers: neither Matroska's LanguageBCP47 nor `elng`.
        if let tag = languageTags[track.index],
            tag.contains("-") || SoundSelection.canonical(tag) != SoundSelection.canonical(track.language ?? "und")
        {
            losses.append(
                "The language “\(tag)” of track \(track.index) is carried as “\(track.language ?? "und")”: libavformat writes no "
                    + "more than that.")
        }
        let names = lostDispositions(track)
        if !names.isEmpty {
            losses.append(
                "That track \(track.index) is marked “\(names.joined(separator: "”, “"))” is not carried: \(container) has no place for it."
            )
        }
    }

    // MARK: Tags

    /// Without what describes the source's file, its writer and its statistics instead of the content, and without the copies that
    /// libavformat makes for a language (`title-eng`).
    private static func content(of tags: Metadata) -> Metadata {
        var result = tags
        for entry in tags {
            let key = entry.key.lowercased()
            let base = key.split(separator: "-").first.map(String.init) ?? key
            let isCopy = base != key && (tags[base] != nil || isOfTheFile(base))
            if isOfTheFile(key) || isCopy { result[entry.key] = nil }
        }
        return result
    }

    private static func isOfTheFile(_ key: String) -> Bool {
        let names: Set = [
            "major_brand", "minor_version", "compatible_brands", "encoder", "handler_name", "vendor_id", "timecode",
            "language", "duration", "bps", "source_id", "rotate", "filename", "mimetype", "variant_bitrate",
            "encoding_tool",
            "muxing_app", "writing_app",
            // MXF's Identification set and file packages (SMPTE ST 377-1 annex B): who wrote that file.
            "uid", "generation_uid", "company_name", "product_name", "product_version", "product_version_num",
            "product_uid", "toolkit_version", "toolkit_version_num", "application_platform", "modification_date",
            "operational_pattern_ul", "file_package_umid", "file_package_name",
        ]
        return names.contains(key) || key.hasPrefix("number_of_") || key.hasPrefix("_statistics_")
    }

    /// A movie's handler names itself in most files; what says more is the track's title.
    private static func spokenTitle(_ track: Track) -> String? {
        guard let name = track.metadata["handler_name"]?.trimmingCharacters(in: .whitespacesAndNewlines), !name.isEmpty
        else {
            return nil
        }
        let machine = ["handle", "media", "video", "sound", "audio", "subtitle", "text", "gopro", "track"]
        let lower = name.lowercased()
        return machine.contains(where: lower.contains) || lower.count < 2 || name.contains("\\") ? nil : name
    }

    /// What libavformat writes of a movie's tags in their fixed form (movenc.c).
    private var fixedKeys: Set<String> {
        guard container == .mov else {
            return [
                "title", "artist", "album_artist", "composer", "album", "date", "comment", "genre", "copyright",
                "grouping",
                "lyrics", "description", "synopsis", "show", "episode_id", "network", "keywords", "episode_sort",
                "season_number", "media_type", "hd_video", "gapless_playback", "compilation", "track", "disc", "tmpo",
                "location", "creation_time",
            ]
        }
        return [
            "title", "artist", "author", "album", "date", "comment", "genre", "copyright", "make", "model", "location",
            "keywords", "creation_time",
        ]
    }

    // MARK: Dispositions

    private func lostDispositions(_ track: Track) -> [String] {
        track.disposition.subtracting(heldDispositions(track)).markNames
    }

    private func heldDispositions(_ track: Track) -> Track.Disposition {
        switch container {
        // Role schemes in `kind` boxes: DASH roles and those of TV-Anytime.
        case .mp4: [.dub, .commentary, .forced, .hearingImpaired, .visualImpaired, .captions, .descriptions]
        case .matroska, .webm:
            [.original, .commentary, .forced, .hearingImpaired, .visualImpaired, .descriptions, .captions]
        // The audio type beside a language (ISO/IEC 13818-1 §2.6.19), the type of a DVB subtitle (ETSI EN 300 468 §6.2.41).
        case .mpegTS where track.mediaType == .audio && track.language != nil:
            [.cleanEffects, .hearingImpaired, .visualImpaired]
        case .mpegTS where track.format.codecName == "dvb_subtitle": .hearingImpaired
        default: []
        }
    }
}
