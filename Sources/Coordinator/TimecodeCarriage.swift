internal import Media
internal import MediaTime
internal import Stitching

/// The time code of the first exported picture: from a movie's time code track, a tag (Matroska, MXF), or the picture itself.
struct TimecodeCarriage {
    private(set) var timecode: Timecode?
    private(set) var losses: [String] = []

    /// - Parameter offset: how far into the source's picture the export begins, in ticks of its track.
    init(
        tracks: [Track], video: Track, file: Metadata, picture: Frame?, offset: Int64, container: Container
    ) {
        let told =
            video.metadata["timecode"] ?? tracks.first { $0.format.codecTag == "tmcd" }?.metadata["timecode"]
            ?? file["timecode"]
        guard
            told != nil
                || picture?.attachmentKinds.contains(where: { [.timecode, .groupTimecode].contains($0) }) == true
        else { return }
        let rates = [video.realFrameRate, video.averageFrameRate].compactMap { $0?.approximation }
        guard let rate = rates.lazy.compactMap({ Timecode.nominalRate($0) }).first else {
            if let told {
                losses.append("The time code \(told) is not carried: the pictures have no rate that one counts.")
            }
            return
        }
        if let told {
            let frames =
                (Double(offset) * Double(video.timeBase.numerator) / Double(video.timeBase.denominator)
                * rate.approximation).rounded()
            timecode = Timecode(told, rate: rate)?.advanced(byFrames: Int64(frames))
            if timecode == nil { losses.append("The time code “\(told)” is not carried: it cannot be read.") }
        } else {
            // The first exported picture's own.
            timecode = picture.flatMap { Timecode(of: $0, rate: rate) }
        }
        if let timecode, !container.isMovie, container != .matroska {
            losses.append("The time code \(timecode.text) is not carried: \(container) holds none.")
            self.timecode = nil
        }
    }

    /// libavformat makes a movie's time code track of the picture track's tag, and counts at the rate it is told.
    func apply(to job: inout StitchJob) {
        guard let timecode else { return }
        if job.container.isMovie {
            job.trackTags[job.videoTrack, default: [:]]["timecode"] = timecode.text
            job.timecodeRate = timecode.rate
        } else {
            job.metadata["timecode"] = timecode.text
        }
    }
}
