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
        /// Channels of sound that have changed places.
        case channels
        /// A hole in the sound that the source does not have.
        case soundGap = "sound-gap"
        /// Sound written over sound: packets that follow each other sooner than they last.
        case soundOverlap = "sound-overlap"
        /// A picture at a join that is far from its neighbours' likeness to the source.
        case seam
        /// Pictures that are not those of the source.
        case picture
        /// Subtitles that say something else.
        case captions
        /// The time code that the first picture bears.
        case timecode
        case chapters
        case tags
        case language
        case disposition
        case colour
        case rotation
        /// Edges are seen that the source's container cuts off.
        case cropping
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
    /// What would not hold, had it not been declared beforehand.
    package var accepted: [Finding] = []
    /// What is different or left out for a reason, and no fault.
    package var notes: [Finding] = []
    /// Sound against picture, for each track of sound that could be measured.
    package var sync: [Sync] = []
    package var structure: Structure?
    /// Pictures that were decoded and compared; 0 without `full`.
    package var comparedPictures = 0
    /// Lowest and mean likeness of luma in decibels, where pictures were compared; 100 for equal pictures.
    package var lowestPSNR: Double?
    package var meanPSNR: Double?
    /// Structural similarity of luma, 1 for equal pictures.
    package var lowestSSIM: Double?
    package var meanSSIM: Double?
    package var joins: [Join] = []
    /// Every compared picture, in order of time.
    package var likeness: [Mark] = []
    /// Errors of the first film's times, in seconds of the output: those that are not 0, and the ends of the film.
    package var timeErrors: [TimeError] = []

    package var pass: Bool { findings.isEmpty }

    package struct TrackCount: Sendable, Hashable {
        package var index: Int
        package var mediaType: String
        /// Shown pictures, packets of sound, subtitles.
        package var source: Int
        package var output: Int
        /// From the first sample's start to the last one's end, seconds.
        package var sourceSeconds: Double
        package var outputSeconds: Double?
        /// Of pictures and subtitles, seconds; `nil` where times are not compared one by one.
        package var maxTimeError: Double?
        package var meanTimeError: Double?
    }

    /// By how much sound is heard late against the picture.
    package struct Sync: Sendable, Hashable {
        package var track: Int
        /// Where in the output, seconds.
        package var at: Double
        /// Seconds.
        package var offset: Double
        /// `packets` that were copied, `content` of the sound, or what the `container` says.
        package var method: String
    }

    /// A picture of the output and how like the source's it is.
    package struct Mark: Sendable, Hashable {
        package var seconds: Double
        package var decibels: Double
        package var similarity: Double
    }

    package struct TimeError: Sendable, Hashable {
        package var seconds: Double
        package var error: Double
    }

    /// Pictures on either side of a place where segments may have been joined: medians over a window.
    package struct Join: Sendable, Hashable {
        package var seconds: Double
        package var before: Double
        package var after: Double
        package var similarityBefore: Double
        package var similarityAfter: Double
        /// Lowest at the join itself.
        package var lowest: Double
        package var isVisible: Bool
    }

    package struct Structure: Sendable, Hashable {
        package var container: String
        /// The index comes before the media; `nil` where the container has none.
        package var isFastStart: Bool?
        package var isFragmented: Bool?
        /// How far the samples of one time lie from each other in the file, as time, seconds.
        package var interleaving: Double
        package var editLists: Int
    }
}
