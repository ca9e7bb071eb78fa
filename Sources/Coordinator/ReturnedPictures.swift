internal import ClusterProtocol
internal import Foundation
internal import Media
internal import MediaTime
internal import Stitching

/// The pictures that a slot's samples decode to, in order of presentation, and what is wrong with them.
final class ReturnedPictures {
    private let segment: SpooledSegment
    private let timeBase: TimeBase
    private let decoder: DecompressionSession
    private var number = 0
    private var frames: [Frame] = []
    private var isFinished = false
    /// The first thing that the decoder had to say.
    private(set) var trouble: String?

    /// - Throws: `.unsupported` where this build has no decoder for the format.
    init(_ segment: SpooledSegment, timeBase: TimeBase) throws(MediaError) {
        self.segment = segment
        self.timeBase = timeBase
        decoder = try DecompressionSession(format: segment.format, timeBase: timeBase)
    }

    /// - Returns: `nil` after the last.
    func next() throws(Failure) -> Frame? {
        while frames.isEmpty, !isFinished { try advance() }
        return frames.isEmpty ? nil : frames.removeFirst()
    }

    private func advance() throws(Failure) {
        let sample = try nextSample()
        do throws(MediaError) {
            if let sample {
                try decoder.decode(sample) { frames.append($0) }
                if let words = decoder.complaint { note(words) }
            } else {
                isFinished = true
                try decoder.finish { frames.append($0) }
            }
        } catch {
            note(error.log.last ?? error.message)
        }
        if frames.contains(where: { $0.isConcealed || $0.isCorrupt }) { note("a picture is damaged") }
    }

    /// Decode times of their own begin anew with each segment, and are never used.
    private func nextSample() throws(Failure) -> Sample? {
        guard number < segment.count else { return nil }
        let entry = segment.entries[number]
        number += 1
        return try segment.sample(
            number - 1, pts: entry.pts, dts: entry.pts, duration: entry.duration, timeBase: timeBase)
    }

    private func note(_ words: String) {
        guard trouble == nil else { return }
        // libavcodec names itself: "[h264] no frame!".
        let named = words.hasPrefix("[") ? words.firstIndex(of: "]").map { words.index(after: $0) } : nil
        trouble = words[(named ?? words.startIndex)...].trimmingCharacters(in: .whitespaces)
    }
}
