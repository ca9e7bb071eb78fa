package import Media
package import MediaTime

/// What a container can hold of a time line, and how its index gets its place at the head of the file.
package struct OutputContainer: Sendable {
    package let container: Container

    package init(_ container: Container) { self.container = container }

    private var isMatroska: Bool { container == .matroska || container == .webm }

    /// Edit lists let MP4 and QuickTime start below zero; the others begin at zero.
    var holdsNegativeTimes: Bool { container.isMovie }

    /// Matroska stores presentation times alone.
    var storesDecodeTimes: Bool { !isMatroska }

    /// Parameter sets in the format description instead of in the samples.
    package var usesGlobalHeader: Bool { container != .mpegTS }

    /// The unit the picture track's times will have: the source's own wherever the container can hold it.
    package func videoTimeBase(_ source: TimeBase) -> TimeBase {
        if isMatroska { return .milliseconds }
        if container == .mpegTS { return .mpeg }
        // A movie's unit is 1/timescale: a numerator other than 1 is folded into a finer scale by the exact inverse.
        guard source.numerator != 1 else { return source }
        return TimeBase(numerator: 1, denominator: source.denominator) ?? source
    }

    /// Sound and picture alternate in runs of half a second, which keeps the index small; a transport stream is sent as it
    /// plays and alternates by sample.
    func interleavePoint(_ nanoseconds: Int64) -> Int64 {
        guard container != .mpegTS else { return nanoseconds }
        let run: Int64 = 500_000_000
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: run)
        return (remainder < 0 ? quotient - 1 : quotient) * run
    }

    /// libavformat's options for this job.
    ///
    /// - Parameter indexScale: multiplies the estimate of the index, after it once proved too small.
    func options(
        job: StitchJob, indexScale: Int, timeBases: [TimeBase], carriedSamples: Int, enclosedBytes: Int = 0
    ) -> [String: String] {
        // libavformat writes Dolby Vision's configuration record only when told that it may.
        let isDolby = (job.pictureAttachments ?? []).contains { $0.kind == .dolbyVision }
        let text =
            job.metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 64 }
            + job.trackTags.values.reduce(0) { $0 + $1.reduce(0) { $0 + $1.value.utf8.count + 64 } }
            + job.chapters.reduce(0) { $0 + 512 + ($1.title?.utf8.count ?? 0) * 2 }
        let index = Self.indexBytes(
            frames: job.expectedFrames, seconds: job.durationSeconds, tracks: 1 + job.carried.count,
            carriedSamples: carriedSamples, text: text)
        return options(
            timeBase: job.timeBase, indexBytes: index * indexScale + enclosedBytes, timeBases: timeBases,
            flags: job.usesMetadataKeys ? "+use_metadata_tags" : "", more: isDolby ? ["strict": "unofficial"] : [:])
    }

    /// libavformat's options for a file of one picture track and nothing else.
    func options(timeBase: TimeBase, frames: Int, seconds: Double, indexScale: Int) -> [String: String] {
        let index = Self.indexBytes(frames: frames, seconds: seconds, tracks: 1, carriedSamples: 0, text: 0)
        return options(
            timeBase: timeBase, indexBytes: index * indexScale, timeBases: [videoTimeBase(timeBase)], flags: "",
            more: [:])
    }

    private func options(
        timeBase: TimeBase, indexBytes: Int, timeBases: [TimeBase], flags: String, more: [String: String]
    ) -> [String: String] {
        guard container.isMovie else { return more }
        var options = more
        options["movflags"] = "+write_colr" + flags
        options["moov_size"] = "\(min(Int(Int32.max), indexBytes))"
        options["video_track_timescale"] = "\(videoTimeBase(timeBase).denominator)"
        // The movie's own unit rounds edit lists unless it holds every track's (ISO/IEC 14496-12 §8.6.6).
        options["movie_timescale"] = "\(TimeBase.commonTimescale(of: timeBases.map(\.denominator)) ?? 90_000)"
        return options
    }

    /// An upper bound of `moov`: per picture stts 8, ctts 8, stsz 4, stss 4; per other sample stts 8, stsz 4; a chunk (stsc 12, co64 8)
    /// for every half second of each track or every sample, whichever is less; and the fixed boxes with their metadata.
    private static func indexBytes(
        frames: Int, seconds: Double, tracks: Int, carriedSamples: Int, text: Int
    ) -> Int {
        let halfSeconds = Int(max(1, min(1e8, (seconds * 2).rounded(.up))))
        return max(0, min(1_000_000_000, frames)) * 24 + carriedSamples * 12 + halfSeconds * tracks * 2 * 20
            + tracks * 4096 + text + 8192
    }
}
