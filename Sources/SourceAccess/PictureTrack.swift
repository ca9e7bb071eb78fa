package import ClusterProtocol
package import Media

/// Which of a source's tracks is its film.
package enum PictureTrack {
    /// Still images that travel in a video track but are no film.
    private static let stills: Track.Disposition = [.attachedPicture, .timedThumbnails, .stillImage]

    /// The video tracks that show a film, in the container's order.
    package static func all(of tracks: [Track]) -> [Track] {
        tracks.filter { $0.mediaType == .video && !isStill($0) }
    }

    /// A cover or a thumbnail.
    package static func isStill(_ track: Track) -> Bool { !track.disposition.isDisjoint(with: stills) }

    /// The one that is exported: the first.
    ///
    /// - Throws: exit code 65 where there is none or it is encrypted.
    package static func find(in tracks: [Track], of location: String) throws(Failure) -> Track {
        guard let track = all(of: tracks).first else {
            throw Failure(
                .asset, "\(location) has no video track.", advice: "`weft probe` shows what it holds.",
                exitCode: .badSource)
        }
        guard !track.isEncrypted else {
            throw Failure(
                .asset, "The video of \(location) is encrypted.", advice: "Decrypt the file first; Weft holds no keys.",
                exitCode: .badSource)
        }
        return track
    }
}
