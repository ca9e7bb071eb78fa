internal import Foundation
public import MediaTime

/// Reads samples of one asset: compressed as they lie in the file, or decoded.
///
/// Each output reads its track by itself, at the pace of whoever pulls. The calls block on the disk, the network and the decoder: use
/// a reader and its outputs from one thread of your own. Another thread stops it through `canceller`.
public final class AssetReader {
    public enum Status: String, Sendable, Hashable {
        /// Outputs may be added.
        case unknown
        case reading
        /// Every output came to its end.
        case completed
        /// `error` says why.
        case failed
        case cancelled
    }

    /// Stops a reader from any thread.
    public struct Canceller: Sendable {
        let interrupt: InterruptFlag

        /// The outputs give `nil` from now on, also one that is waiting for the disk or the network.
        public func cancel() { interrupt.interrupt() }
    }

    /// What is read. Each output opens it once more, so that tracks are pulled independently.
    public let asset: Asset
    /// Half-open, in presentation time; `nil` is everything.
    public let timeRange: TimeRange?
    /// In the order they were added.
    public private(set) var outputs: [AssetReaderTrackOutput] = []
    /// Why the status is `.failed`; `nil` otherwise.
    public private(set) var error: MediaError?
    private let interrupt = InterruptFlag()
    private var stage = Status.unknown

    /// Does no I/O.
    public init(asset: Asset, timeRange: TimeRange? = nil) {
        self.asset = asset
        self.timeRange = timeRange
    }

    /// Where the reader stands. Read it when an output gave `nil`: that alone does not tell the end from a failure.
    public var status: Status {
        if stage == .reading || stage == .unknown, interrupt.isInterrupted { return .cancelled }
        return stage
    }

    /// May be handed to other threads, unlike the reader.
    public var canceller: Canceller { Canceller(interrupt: interrupt) }

    /// Stops reading for good; `nil` is all that the outputs give from now on.
    public func cancelReading() { interrupt.interrupt() }

    /// - Throws: `.invalidSettings` after `startReading`, and for an output of another reader.
    public func add(_ output: AssetReaderTrackOutput) throws(MediaError) {
        guard status == .unknown else {
            throw MediaError(.asset, .invalidSettings, "An output can be added only before reading starts.")
        }
        guard output.reader == nil else {
            throw MediaError(.asset, .invalidSettings, "The output belongs to a reader already.")
        }
        output.reader = self
        outputs.append(output)
    }

    /// Opens the asset for every output and moves to the start of the time range.
    public func startReading() throws(MediaError) {
        guard status == .unknown else {
            throw error ?? MediaError(.asset, .invalidSettings, "This reader cannot start: it is \(status).")
        }
        guard !outputs.isEmpty else {
            throw MediaError(.asset, .invalidSettings, "A reader without outputs has nothing to read.")
        }
        stage = .reading
        do {
            for output in outputs {
                let demuxer = try Demuxer(location: asset.location, options: asset.options, interrupt: interrupt)
                try output.start(demuxer, timeRange)
            }
        } catch {
            fail(error)
            throw error
        }
    }

    func fail(_ error: MediaError) {
        guard stage == .reading else { return }
        if interrupt.isInterrupted {
            stage = .cancelled
        } else {
            stage = .failed
            self.error = error
        }
    }

    func outputEnded() {
        guard stage == .reading, outputs.allSatisfy(\.hasEnded) else { return }
        stage = interrupt.isInterrupted ? .cancelled : .completed
    }
}
