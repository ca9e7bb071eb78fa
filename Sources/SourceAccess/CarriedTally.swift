package import Media

/// What a carried track promises: counted where the source is read and again where the output is written. The proof holds the file
/// against it.
package struct CarriedTally: Hashable, Sendable {
    /// Index in the source.
    package var track: Int
    package var mediaType: MediaType
    /// What the output gets.
    package var codec: String
    /// The samples are the source's own.
    package var isCopy: Bool
    /// The source's samples in the exported range.
    package var read = Extent()
    package var written = Extent()
    /// What is missing at places has been named already: damaged sound, cues that could not be converted.
    package var hasKnownGaps = false

    package init(track: Int, mediaType: MediaType, codec: String, isCopy: Bool) {
        self.track = track
        self.mediaType = mediaType
        self.codec = codec
        self.isCopy = isCopy
    }

    /// How many samples, and from when to when: nanoseconds of the output's time line, before it is shifted.
    package struct Extent: Hashable, Sendable {
        package var count = 0
        package var first = Int64.max
        /// When the last one begins.
        package var last = Int64.min
        /// When the last one ends.
        package var end = Int64.min
        package var longest: Int64 = 0

        package init() {}

        package mutating func add(from start: Int64, lasting duration: Int64) {
            count += 1
            first = min(first, start)
            last = max(last, start)
            end = max(end, start &+ duration)
            longest = max(longest, duration)
        }
    }
}
