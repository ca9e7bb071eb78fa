package import MediaTime

extension JobReport {
    /// A stretch of the output that is not what the source should hold there, because the source is damaged.
    package struct Damage: Hashable, Sendable, Codable {
        package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
            /// Something is there, but parts of it are made up: by the decoder, which may show an earlier picture's parts or the whole of it
            /// again, or silence for sound.
            case concealed
            /// Nothing is there: the picture before stays on for as long. No picture is ever written a second time.
            case dropped
        }

        /// Index of the source's track.
        package var track: Int
        package var kind: Kind
        /// Times of the presentation: what is at the output's beginning is at 0. `end` is the first time that is whole again.
        package var start: MediaTime
        package var end: MediaTime
        /// Pictures, or packets of sound; 0 where nobody knows how many there were. Of pictures that are in no sample any more it is an
        /// estimate, and `detail` says so.
        package var frames: Int
        /// One sentence for people.
        package var detail: String

        package init(
            track: Int, kind: Kind, start: MediaTime, end: MediaTime, frames: Int, detail: String
        ) {
            self.track = track
            self.kind = kind
            self.start = start
            self.end = end
            self.frames = frames
            self.detail = detail
        }
    }
}
