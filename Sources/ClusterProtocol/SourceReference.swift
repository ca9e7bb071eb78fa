/// A source as it is named across machines, with the fingerprint that tells whether two machines see the same bytes.
package struct SourceReference: Hashable, Sendable, Codable {
    /// An absolute path or an http(s) URL.
    package var location: String
    package var fingerprint: Fingerprint
    /// Index of the video track in the container.
    package var videoTrack: Int

    private enum CodingKeys: String, CodingKey {
        case location, fingerprint
        case videoTrack = "video_track"
    }

    package init(location: String, fingerprint: Fingerprint, videoTrack: Int) {
        self.location = location
        self.fingerprint = fingerprint
        self.videoTrack = videoTrack
    }

    /// Size, modification time and a hash of sampled blocks.
    package struct Fingerprint: Hashable, Sendable, Codable {
        package var size: Int64
        /// Nanoseconds since 1970; 0 where the source has none (http). Not compared between machines.
        package var modified: Int64
        /// XXH3-128 over the size and 64 KiB blocks at the head, the tail and evenly between, in hex.
        package var hash: String

        package init(size: Int64, modified: Int64, hash: String) {
            self.size = size
            self.modified = modified
            self.hash = hash
        }
    }
}
