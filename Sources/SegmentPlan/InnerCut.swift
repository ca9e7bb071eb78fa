/// A place inside a long group of pictures at which it may be cut: between any two of them enough pictures are shown that no
/// segment is left without one.
package struct InnerCut: Hashable, Sendable, Codable {
    /// Ticks of the track.
    package var time: Int64
    /// Pictures of the group that are decoded, or shown, before it.
    package var pictures: Int

    package init(time: Int64, pictures: Int) {
        self.time = time
        self.pictures = pictures
    }
}
