internal import Foundation
public import MediaTime
internal import Synchronization

/// One track of an asset writer: samples go in, in decode order, as long as it is ready for them.
public final class AssetWriterInput: Sendable {
    /// What the track is made of.
    public struct Description: Sendable {
        /// What a reader of the file must know; a session's or a track's own.
        public var format: FormatDescription
        /// Unit wished for the track; the container may take a finer or, as Matroska, a coarser one.
        public var timeBase: TimeBase
        /// Tags of the track.
        public var metadata: Metadata
        public var disposition: Track.Disposition
        /// BCP 47 or ISO 639-2; `nil` for none.
        public var language: String?
        /// Side data of the whole track, besides the format's own.
        public var attachments: [Attachment]
        /// Frames a second that players are told; `nil` leaves it to the container.
        public var averageFrameRate: Rational?
        /// Samples are rare (subtitles, data): the other tracks do not wait for the next one.
        public var isSparse: Bool

        public init(
            format: FormatDescription, timeBase: TimeBase, metadata: Metadata = [:],
            disposition: Track.Disposition = [], language: String? = nil, attachments: [Attachment] = [],
            averageFrameRate: Rational? = nil, isSparse: Bool? = nil
        ) {
            self.format = format
            self.timeBase = timeBase
            self.metadata = metadata
            self.disposition = disposition
            self.language = language
            self.attachments = attachments
            self.averageFrameRate = averageFrameRate
            self.isSparse = isSparse ?? (format.mediaType != .video && format.mediaType != .audio)
        }
    }

    public let description: Description
    /// Set when the input joins a writer.
    private let place = Mutex<(writer: AssetWriterQueue, index: Int)?>(nil)

    public init(_ description: Description) { self.description = description }

    /// Whether `append` takes a sample now. `false` before the session starts, while the queue is full, and after the end.
    public var isReadyForMoreMediaData: Bool {
        guard let (writer, index) = place.withLock({ $0 }) else { return false }
        return writer.isReady(index)
    }

    /// Hands over one sample.
    ///
    /// - Throws: `.invalidSettings` when the input is not ready (back-pressure: wait first); a `.timing` error when the decode time
    ///   does not rise, which fails the writer; the writer's error once it has failed.
    public func append(_ sample: Sample) throws(MediaError) {
        guard let (writer, index) = place.withLock({ $0 }) else {
            throw MediaError(.finalization, .invalidSettings, "This input belongs to no writer.")
        }
        try writer.append(sample, to: index)
    }

    /// Suspends until the input is ready; `false` when it never will be again: read the writer's status.
    public func ready() async -> Bool {
        guard let (writer, index) = place.withLock({ $0 }) else { return false }
        return await writer.ready(index)
    }

    /// Blocks until the input is ready: for a thread of your own. `false` when it never will be again.
    public func waitUntilReady() -> Bool {
        guard let (writer, index) = place.withLock({ $0 }) else { return false }
        return writer.waitUntilReady(index)
    }

    /// No more samples will come. The other inputs stop waiting for this one.
    public func markAsFinished() {
        guard let (writer, index) = place.withLock({ $0 }) else { return }
        writer.markAsFinished(index)
    }

    func join(_ writer: AssetWriterQueue, at index: Int) -> Bool {
        place.withLock { place in
            guard place == nil else { return false }
            place = (writer, index)
            return true
        }
    }
}
