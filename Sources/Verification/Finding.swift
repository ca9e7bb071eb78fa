/// Something that does not hold between a source and an output.
package struct Finding: Hashable, Sendable, Codable {
    /// Index of the track in the source, -1 for the file as a whole.
    package var track: Int
    /// One word or two that programs may switch on; see ``Kind``.
    package var kind: Kind
    /// One sentence for people.
    package var detail: String

    package init(_ kind: Kind, track: Int = -1, _ detail: String) {
        self.track = track
        self.kind = kind
        self.detail = detail
    }

    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Pictures or subtitles of the source that the output lacks.
        case missing
        /// Pictures or subtitles that the output has twice or that the source does not have.
        case duplicated
        /// Presentation times that are wrong by more than rounding.
        case timestamps
        /// Decode times that do not rise, or come after the presentation.
        case decodeOrder = "decode-order"
        /// The first sample is no keyframe.
        case sync
        /// A track of the source that the output lacks.
        case missingTrack = "missing-track"
        /// Sound that starts early or late against the picture.
        case soundOffset = "sound-offset"
        /// Sound that ends early or late against the picture.
        case soundEnd = "sound-end"
        /// A hole in the sound that the source does not have.
        case soundGap = "sound-gap"
        /// A picture at a join that is far from its neighbours' likeness to the source.
        case seam
        /// Pictures that are not those of the source.
        case picture
        case chapters
        case tags
        case language
        case disposition
        case colour
        case rotation
        case aspect
        case hdr
        case size
        case tracks
        /// The container's structure.
        case container
        /// The file cannot be read to its end.
        case damage
    }
}

/// What a comparison of two files found.
package struct VerificationReport: Sendable {
    package var tracks: [TrackCount] = []
    /// What does not hold.
    package var findings: [Finding] = []
    /// What is different or left out for a reason, and no fault.
    package var notes: [Finding] = []
    /// Pictures that were decoded and compared; 0 without `full`.
    package var comparedPictures = 0
    /// Lowest and mean likeness of luma in decibels, where pictures were compared; +∞ for equal pictures.
    package var lowestPSNR: Double?
    package var meanPSNR: Double?

    package var pass: Bool { findings.isEmpty }

    package struct TrackCount: Sendable, Hashable {
        package var index: Int
        package var mediaType: String
        /// Shown pictures, packets of sound, subtitles.
        package var source: Int
        package var output: Int
    }
}
