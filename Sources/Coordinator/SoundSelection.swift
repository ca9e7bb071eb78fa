internal import ClusterProtocol
internal import Foundation
internal import Media

/// The source's tracks of sound that the user asks for, in the order of the output.
struct SoundSelection {
    private(set) var chosen: [Track] = []
    /// Languages that were asked for beside others and are not there.
    private(set) var remarks: [String] = []

    /// - Throws: exit code 64 where a track or every language asked for is not there, with a list of what is.
    init(_ settings: ExportSettings, _ tracks: [Track], source: String) throws(Failure) {
        let sounds = tracks.filter { $0.mediaType == .audio }
        chosen = sounds
        guard settings.audioCodec != .none else { return }
        if let map = settings.audioMap {
            chosen = []
            for number in map {
                guard sounds.indices.contains(number) else {
                    throw Self.refusal("--audio-map \(number): \(source) has no such track of sound.", sounds)
                }
                chosen.append(sounds[number])
            }
        }
        guard let languages = settings.audioLanguages else { return }
        let wanted = languages.map { language in (language, chosen.filter { Self.speaks($0, language) }) }
        chosen = wanted.flatMap(\.1).reduce(into: []) { list, track in
            if !list.contains(where: { $0.index == track.index }) { list.append(track) }
        }
        guard !chosen.isEmpty else {
            throw Self.refusal(
                "--audio-language \(languages.joined(separator: ",")): \(source) has no sound in \(languages.count == 1 ? "that language" : "those languages").",
                sounds)
        }
        remarks = wanted.filter(\.1.isEmpty).map { "There is no sound in the language “\($0.0)” in the source." }
    }

    private static func refusal(_ message: String, _ sounds: [Track]) -> Failure {
        let list = sounds.enumerated().map { number, track in
            let title = (track.metadata["title"]).map { " “\($0)”" } ?? ""
            return
                "\(number): \(track.language ?? "und"), \(track.format.codecName) \(track.format.channelLayout ?? "")\(title)"
        }
        return Failure(
            .asset, message,
            advice: list.isEmpty ? "There is no sound in it at all." : "There is \(list.joined(separator: "; ")).",
            fault: .settings, exitCode: .usage)
    }

    /// `deu`, `ger` and `de` are one language: ISO 639 has two letters, three, and for some three others.
    private static func speaks(_ track: Track, _ language: String) -> Bool {
        canonical(track.language ?? "und") == canonical(language)
    }

    static func canonical(_ language: String) -> String {
        let primary = language.lowercased().split(separator: "-").first.map(String.init) ?? "und"
        let terminology = bibliographic[primary] ?? primary
        return Locale.LanguageCode(terminology).identifier(.alpha2) ?? terminology
    }

    /// ISO 639-2/B codes that differ from ISO 639-2/T.
    private static let bibliographic = [
        "alb": "sqi", "arm": "hye", "baq": "eus", "bur": "mya", "chi": "zho", "cze": "ces", "dut": "nld", "fre": "fra",
        "geo": "kat", "ger": "deu", "gre": "ell", "ice": "isl", "mac": "mkd", "mao": "mri", "may": "msa", "per": "fas",
        "rum": "ron", "slo": "slk", "tib": "bod", "wel": "cym",
    ]
}
