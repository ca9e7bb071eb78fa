/// Something the source has and the output gets, and how: what stands beside a report's `losses`.
package struct CarriedItem: Hashable, Sendable, Codable {
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        // Tracks.
        case video, audio, subtitle, data, cover, attachment
        // Without a track of their own, or with one that means nothing by itself.
        case chapters, timecode, captions, hdr, tags
    }

    package enum How: String, Hashable, Sendable, Codable, CaseIterable {
        /// The same bytes, or the same words.
        case copied
        /// Decoded and encoded as `to`.
        case encoded
        /// In another form, `to`, that says the same.
        case converted
        /// Inside the coded pictures.
        case inVideo = "in_video"
    }

    package var kind: Kind
    package var how: How
    /// Index of the track in the source.
    @NullWhenAbsent package var track: Int?
    /// What the source has: a codec's name, a time code, a kind of HDR; empty where there is nothing to say.
    package var from: String
    /// What the output gets.
    package var to: String
    /// Chapters, tags.
    @NullWhenAbsent package var count: Int?
    @NullWhenAbsent package var language: String?
    @NullWhenAbsent package var title: String?

    package init(
        _ kind: Kind, _ how: How, track: Int? = nil, from: String = "", to: String? = nil, count: Int? = nil,
        language: String? = nil, title: String? = nil
    ) {
        self.kind = kind
        self.how = how
        self.track = track
        self.from = from
        self.to = to ?? from
        self.count = count
        self.language = language
        self.title = title
    }
}
