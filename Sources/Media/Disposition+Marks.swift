extension Track.Disposition {
    /// What a viewer chooses a track by, with its name for people. But for "default": most containers call the first track of a kind
    /// that, which is no news.
    package static let marks: [(mark: Track.Disposition, name: String)] = [
        (.dub, "dub"), (.original, "original"), (.commentary, "commentary"), (.lyrics, "lyrics"),
        (.karaoke, "karaoke"), (.forced, "forced"), (.hearingImpaired, "hearing impaired"),
        (.visualImpaired, "visual impaired"), (.cleanEffects, "clean effects"), (.captions, "captions"),
        (.descriptions, "descriptions"),
    ]

    /// Names of those that are set.
    package var markNames: [String] { Self.marks.filter { contains($0.mark) }.map(\.name) }
}
