internal import ClusterProtocol
internal import Media
internal import SourceAccess

/// Decodes a picture track from its beginning to its end, one frame at a time, with times on the unrolled time line.
///
/// Used from one thread.
final class PictureReader {
    let track: Track
    private let decoder: DecompressionSession
    private let reader: ProgramReader
    private var queue: [Frame] = []
    private var head = 0
    private var isAtEnd = false
    /// Samples that could not be decoded, and reads that failed.
    private(set) var damage = 0

    init(location: String, track index: Int, threads: Int, interrupt: InterruptFlag) throws(Failure) {
        do throws(MediaError) {
            let demuxer = try Demuxer(location: location, interrupt: interrupt)
            guard demuxer.tracks.indices.contains(index) else {
                throw MediaError(.asset, .notMedia, "\(location) has no track \(index).")
            }
            track = demuxer.tracks[index]
            reader = ProgramReader(demuxer, tracks: [index])
            decoder = try DecompressionSession(
                format: track.format, timeBase: track.timeBase, settings: .init(threads: threads))
        } catch {
            throw Failure(error, role: .source)
        }
    }

    /// The next picture as the decoder gives it, which is presentation order; `nil` at the end.
    func next() throws(Failure) -> Frame? {
        while head >= queue.count {
            queue.removeAll(keepingCapacity: true)
            head = 0
            guard !isAtEnd else { return nil }
            do {
                try read()
            } catch {
                guard error.reason == .invalidData else { throw Failure(error, role: .source) }
                damage += 1
            }
        }
        defer { head += 1 }
        return queue[head]
    }

    private func read() throws(MediaError) {
        guard let item = try reader.next() else {
            isAtEnd = true
            try decoder.finish { queue.append($0) }
            return
        }
        try decoder.decode(item.sample) { queue.append($0) }
    }
}
