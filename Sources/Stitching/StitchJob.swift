package import ClusterProtocol
package import Media
package import MediaTime
package import SegmentPlan
package import SourceAccess

/// What the stitch is told: where the output goes, what it is made of, and the one origin of its time line.
package struct StitchJob: Sendable {
    /// Where the output is written until it is complete.
    package var temporary: String
    package var container: Container
    package var source: String
    package var videoTrack: Int
    /// The source's tracks, as they were found when it was planned.
    package var tracks: [Track]
    package var segments: [Segment]
    /// Unit of the segments' times.
    package var timeBase: TimeBase
    package var carried: [CarriedTrack]
    package var chapters: [Chapter]
    package var metadata: Metadata
    /// Source time that becomes zero in the output: the common start of all tracks.
    package var origin: MediaTime
    /// A part of the source is exported, from `origin` on.
    package var isRanged: Bool
    /// Source time where the exported part ends.
    package var rangeEnd: MediaTime?
    /// The picture is copied from the source; no segment is asked for.
    package var copiesPicture: Bool
    /// Places by which decode order runs ahead.
    package var reorderDepth: Int
    /// Expected number of pictures, for the size of the index.
    package var expectedFrames: Int
    /// Side data of the output's picture track; `nil` for the source's own.
    package var pictureAttachments: [Attachment]?
    /// Tags of the output's tracks, by index of the source's; those that are not named keep the source's own.
    package var trackTags: [Int: Metadata] = [:]
    /// A movie's tags are written as keys with values, which may be any.
    package var usesMetadataKeys = false
    /// Frames a second that a time code counts; `nil` leaves the source's average.
    package var timecodeRate: Rational?
    /// The source as slots open it, to see for oneself where they say that it is damaged.
    package var reference: SourceReference?
    /// Damage that was found while planning.
    package var knownDamage: [JobReport.Damage] = []
    package var maxDamage: DamageLimit?
    /// What to say should the source's pictures carry closed captions; `nil` where that is known, or they are written.
    package var captionLoss: String?
    /// Any damage ends the export.
    package var refusesDamage = false

    package init(
        temporary: String, container: Container, source: String, videoTrack: Int, tracks: [Track],
        segments: [Segment],
        timeBase: TimeBase,
        carried: [CarriedTrack], chapters: [Chapter], metadata: Metadata, origin: MediaTime, isRanged: Bool,
        rangeEnd: MediaTime?, copiesPicture: Bool, reorderDepth: Int, expectedFrames: Int
    ) {
        self.temporary = temporary
        self.container = container
        self.source = source
        self.videoTrack = videoTrack
        self.tracks = tracks
        self.segments = segments
        self.timeBase = timeBase
        self.carried = carried
        self.chapters = chapters
        self.metadata = metadata
        self.origin = origin
        self.isRanged = isRanged
        self.rangeEnd = rangeEnd
        self.copiesPicture = copiesPicture
        self.reorderDepth = reorderDepth
        self.expectedFrames = expectedFrames
    }
}

extension StitchJob {
    package func tags(of track: Track) -> Metadata { trackTags[track.index] ?? track.metadata }

    /// What the output gets: of a movie the track's, elsewhere the file's.
    package var timecode: String? {
        container.isMovie ? trackTags[videoTrack]?["timecode"] : metadata["timecode"]
    }

    /// Length of the exported picture in seconds, for estimates only.
    var durationSeconds: Double {
        guard let first = segments.first, let last = segments.last else { return 0 }
        return (Double(last.end) - Double(first.start)) * Double(timeBase.numerator) / Double(timeBase.denominator)
    }
}

/// Whether segments may come with other parameter sets than the first one.
package enum FormatMixing: Hashable, Sendable {
    /// All are encoded alike: one that is not is a fault.
    case refused
    /// Some were rerun with other settings.
    case allowed
    /// And those are known to give other parameter sets.
    case expected
}

/// A completed segment: the picture track's samples in decode order.
package protocol SegmentContent: AnyObject {
    var format: FormatDescription { get }
    var count: Int { get }
    /// In decode order, ticks of the job's time base.
    var presentationTimes: [Int64] { get }
    /// Those of them that are pictures of the film, in any order: what source and output are compared by.
    var shownTimes: [Int64] { get }
    /// What the one who decoded it says of damage.
    var damage: SampleTable.Damage { get }
    /// The sample with its bytes, at the times given.
    func sample(
        _ number: Int, pts: Int64, dts: Int64, duration: Int64, timeBase: TimeBase
    ) throws(Failure) -> Sample
}

extension SegmentContent {
    package var shownTimes: [Int64] { presentationTimes }
}

/// Delivers completed segments in order.
package protocol SegmentSupply: Sendable {
    /// Blocks until the segment is there; throws when it never will be.
    func segment(_ index: Int) throws(Failure) -> any SegmentContent
    var mixing: FormatMixing { get }
}

/// What the stitch did.
package struct StitchResult: Sendable {
    package var bytes: Int64 = 0
    package var frames = 0
    /// Shown pictures of the source inside the exported range.
    package var sourceFrames = 0
    /// Source pictures that no segment returned, and returned pictures that the source does not have.
    package var missing = 0
    package var surplus = 0
    /// Source pictures that damage took away, which are no part of `sourceFrames`.
    package var dropped = 0
    /// Source pictures whose time is not above that of the one before them.
    package var moved = 0
    package var damage: [JobReport.Damage] = []
    /// Times of each segment's pictures, sorted.
    package var segmentTimes: [[Int64]] = []
    /// The first few of each, in source ticks.
    package var examples: [Int64] = []
    /// XXH3-128 over the compressed bytes of the picture track.
    package var videoHash = ""
    /// Added to every output time because the container holds no time below zero.
    package var shift = MediaTime.zero
    /// By how many ticks of the output pictures were moved because the container cannot tell their times from their neighbours', by
    /// their time in the source: one number for each picture that has it.
    package var moves: [Int64: [Int64]] = [:]
    /// By how much the container's edit list may be rounded.
    package var editRounding = MediaTime.zero
    package var videoTimeBase = TimeBase.milliseconds
    package var warnings: [String] = []
    package var losses: [String] = []
    /// What each track beside the picture promises, in the order of the file.
    package var carried: [CarriedTally] = []
    /// The index did not fit its reserved space (or the depth was short) and the file was written again.
    package var wasRewritten = false
}
