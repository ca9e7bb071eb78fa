internal import Media

/// What is seen of a track's pictures: the container may have edges cut off.
struct ShownPicture: Hashable {
    private(set) var width: Int
    private(set) var height: Int
    private var sampleAspectRatio: Rational?
    /// Filters that leave what is seen; empty where everything is.
    private(set) var filter = ""
    /// Of the whole picture.
    private let coded: Track.Size

    init(_ track: Track, _ cropping: PictureCropping?, _ first: FirstPicture) {
        // A container may tell another size than its pictures have: decoders go by the pictures.
        coded = first.size ?? Track.Size(width: track.format.width, height: track.format.height)
        (width, height) = (coded.width, coded.height)
        sampleAspectRatio = track.sampleAspectRatio
        guard let cropping,
            let kept = cropping.rectangle(
                width: width, height: height, pixelFormat: first.pixelFormat ?? "", isInterlaced: first.isInterlaced)
        else { return }
        (width, height) = (kept.width, kept.height)
        // Pictures that come in another size further on are shown in the first one's.
        filter = "scale=\(coded.width):\(coded.height):flags=bicubic,\(kept.filter)"
        sampleAspectRatio = cropping.sampleAspectRatio ?? sampleAspectRatio
    }

    var isCropped: Bool { !filter.isEmpty }

    /// Width over height, before the rotation; 0 where unknown.
    var aspect: Double {
        guard width > 0, height > 0 else { return 0 }
        return Double(width) / Double(height) * (sampleAspectRatio?.approximation ?? 1)
    }

    /// An output shows all that the source's container has cut off.
    func isWhole(in output: ShownPicture) -> Bool { isCropped && !output.isCropped && coded == output.coded }
}
