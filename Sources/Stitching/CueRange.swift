internal import ClusterProtocol
internal import Media
internal import MediaTime

/// The exported range as a track of cues has it, on the output's time line: a cue that is on when the range begins or ends is
/// shown inside it only.
struct CueRange {
    /// Ticks of the track; `nil` where the track ends with the source.
    private let end: Int64?

    /// - Returns: `nil` for a track whose samples cannot be cut, and for the whole of a source.
    init?(_ job: StitchJob, track: Track) {
        guard job.isRanged, track.mediaType == .subtitle, SubtitleSession.reads(codec: track.format.codecName) else {
            return nil
        }
        end = job.rangeEnd.flatMap { end in
            (try? end.subtracting(job.origin)).flatMap { try? $0.ticks(in: track.timeBase) }
        }
    }

    func clipped(_ sample: Sample) -> Sample {
        guard let pts = sample.pts else { return sample }
        let start = max(0, pts)
        var duration = sample.duration
        if duration > 0 {
            let stop = min(pts &+ duration, end ?? .max)
            duration = max(1, stop &- start)
        }
        return sample.retimed(pts: start, dts: start, duration: duration, timeBase: sample.timeBase)
    }
}
