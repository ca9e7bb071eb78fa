internal import Foundation
internal import MediaTime

/// One track of an asset reader: the app pulls.
///
/// `nil` has four causes; the reader's status tells which: this output is at its end while others are not (`.reading`), everything is
/// read (`.completed`), something broke (`.failed`), or somebody stopped it (`.cancelled`).
public final class AssetReaderTrackOutput {
    public enum Settings: Sendable {
        /// Samples as they lie in the file, in decode order. With a time range: from the random access point before it; what is outside
        /// and needed only for decoding is marked `isDiscarded`.
        case compressed
        /// Frames in presentation order, only those inside the time range. Audio comes in whole frames that overlap the range.
        case decoded(DecompressionSession.Settings)
    }

    /// The track that is pulled.
    public let track: Track
    public let settings: Settings
    /// Whether `nil` was returned because the end of the track or of the range was reached.
    public private(set) var hasEnded = false

    weak var reader: AssetReader?
    private var demuxer: Demuxer?
    private var session: DecompressionSession?
    /// In ticks of the track, half-open.
    private var range: Range<Int64> = .min..<Int64.max
    private var pending: Sample?
    private var frames: [Frame] = []
    private var isDrained = false
    /// Samples that the decoder refused as bad data. Isolated ones are survived, many in a row fail the reader.
    public private(set) var refusedSamples = 0
    private var refusedInARow = 0
    private static let refusalLimit = 32

    /// - Parameter track: one of the asset's.
    public init(track: Track, settings: Settings = .compressed) {
        self.track = track
        self.settings = settings
    }

    /// The next compressed sample; blocks.
    ///
    /// Always `nil` for an output of decoded frames.
    public func copyNextSample() -> Sample? {
        guard case .compressed = settings else { return nil }
        return pull { () throws(MediaError) in try self.nextInRange().map(self.marked) }
    }

    /// The next decoded frame; blocks.
    ///
    /// Always `nil` for an output of compressed samples.
    public func copyNextFrame() -> Frame? {
        guard case .decoded = settings else { return nil }
        return pull { () throws(MediaError) in try self.nextFrame() }
    }

    private func pull<Value>(_ body: () throws(MediaError) -> Value?) -> Value? {
        guard let reader, reader.status == .reading, !hasEnded else { return nil }
        do throws(MediaError) {
            if let value = try body() { return value }
            hasEnded = true
            demuxer = nil
            session = nil
            reader.outputEnded()
        } catch {
            reader.fail(error)
        }
        return nil
    }

    // MARK: Start

    func start(_ demuxer: Demuxer, _ timeRange: TimeRange?) throws(MediaError) {
        guard demuxer.tracks.indices.contains(track.index) else {
            throw MediaError(.asset, .notFound, "\(demuxer.location) has no track \(track.index).")
        }
        if track.isEncrypted, case .decoded = settings {
            throw MediaError(.asset, .encrypted, "Track \(track.index) of \(demuxer.location) is encrypted.")
        }
        demuxer.select(tracks: [track.index])
        self.demuxer = demuxer
        if let timeRange {
            range = try Self.ticks(of: timeRange, in: track.timeBase)
            try seek(demuxer)
        }
        if case .decoded(let settings) = settings {
            session = try DecompressionSession(format: track.format, timeBase: track.timeBase, settings: settings)
        }
    }

    /// A time t of the track lies in the range exactly when its ticks are at or above the start, rounded up, and below the end,
    /// rounded up.
    private static func ticks(of range: TimeRange, in timeBase: TimeBase) throws(MediaError) -> Range<Int64> {
        do throws(MediaTimeError) {
            let start = try range.start.ticks(in: timeBase, rounding: .up)
            let end =
                range.end.isNumeric ? try range.end.ticks(in: timeBase, rounding: .up) : Int64.max
            return start..<max(start, end)
        } catch {
            throw MediaError(.timing, .invalidSettings, "The time range \(range) cannot be read: \(error).")
        }
    }

    /// To a random access point whose presentation is not after the start. Containers that compare decode times may land on one
    /// that is.
    private func seek(_ demuxer: Demuxer) throws(MediaError) {
        // Audio decoders need a little of what came before (Opus: 80 ms, RFC 7845 §4.6).
        let preroll =
            track.mediaType == .audio ? Int64(track.timeBase.denominator) / Int64(track.timeBase.numerator) / 10 : 0
        var goal = range.lowerBound.subtractingReportingOverflow(preroll).partialValue
        guard goal > track.startTicks ?? 0 else { return }
        for _ in 0..<16 {
            try demuxer.seek(track: track.index, toTicks: goal)
            guard let first = try demuxer.readSample(), let pts = first.pts else { break }
            if pts <= range.lowerBound {
                pending = first
                return
            }
            let before = min(goal, first.dts ?? pts).subtractingReportingOverflow(1).partialValue
            guard before >= track.startTicks ?? 0 else { break }
            goal = before
        }
        try demuxer.seek(track: track.index, toTicks: track.startTicks ?? 0)
    }

    // MARK: Pulling

    /// The next sample in decode order that the range needs; `nil` at the end.
    private func nextInRange() throws(MediaError) -> Sample? {
        guard let demuxer else { return nil }
        while true {
            let next: Sample?
            if let held = pending {
                next = held
                pending = nil
            } else {
                next = try demuxer.readSample()
            }
            guard let sample = next else { return nil }
            // Presentation never precedes decoding: nothing after this decode time lies in the range.
            if let time = sample.dts ?? sample.pts, time >= range.upperBound { return nil }
            return sample
        }
    }

    private func marked(_ sample: Sample) throws(MediaError) -> Sample {
        guard let pts = sample.pts else { return sample }
        let end = pts.addingReportingOverflow(max(1, sample.duration))
        let isOutside =
            track.mediaType == .video
            ? !range.contains(pts)
            : (end.overflow ? false : end.partialValue <= range.lowerBound) || pts >= range.upperBound
        return isOutside ? try sample.discarded() : sample
    }

    private func nextFrame() throws(MediaError) -> Frame? {
        while true {
            while !frames.isEmpty {
                let frame = frames.removeFirst()
                if isWanted(frame) { return frame }
            }
            guard !isDrained else { return nil }
            if let sample = try nextInRange() {
                try renewSession(for: sample)
                try decode(sample)
            } else {
                isDrained = true
                try drain()
            }
        }
    }

    private func drain() throws(MediaError) {
        try session?.finish { (frame) throws(MediaError) in frames.append(frame) }
    }

    /// New parameter sets from the container: the old session gives what it still holds, a new one takes over.
    private func renewSession(for sample: Sample) throws(MediaError) {
        guard let session, case .decoded(let settings) = settings, sample.format != session.format else { return }
        try drain()
        self.session = try DecompressionSession(format: sample.format, timeBase: track.timeBase, settings: settings)
    }

    private func decode(_ sample: Sample) throws(MediaError) {
        do throws(MediaError) {
            try session?.decode(sample) { (frame) throws(MediaError) in frames.append(frame) }
            refusedInARow = 0
        } catch  where error.reason == .invalidData {
            refusedSamples += 1
            refusedInARow += 1
            if refusedInARow > Self.refusalLimit { throw error }
        }
    }

    private func isWanted(_ frame: Frame) -> Bool {
        guard let pts = frame.pts, pts < range.upperBound else { return frame.pts == nil }
        guard track.mediaType == .audio else { return pts >= range.lowerBound }
        let (end, overflow) = pts.addingReportingOverflow(max(1, frame.duration))
        return overflow || end > range.lowerBound
    }
}
