/// What may come from outside, at most. Every decoder of this module checks against these before it allocates or believes.
package enum ProtocolLimits {
    /// Version of the envelope that this build speaks. Peers of another version are refused with a reason.
    package static let version = 1

    /// Bytes of the JSON header frame.
    package static let headerBytes = 1 << 20
    /// Bytes of one payload frame: sample data is cut into chunks of at most this, so that nothing urgent waits long behind it.
    package static let chunkBytes = 1 << 20
    /// Payload frames of one message.
    package static let payloadFrames = 1 + tableBytes / chunkBytes
    /// Bytes of an archived format description.
    package static let formatBytes = 1 << 20
    /// Samples of one segment: ten hours at 60 frames a second in a source with a single keyframe fit.
    package static let samples = 1 << 22
    /// Bytes of an encoded sample table, attachments included.
    package static let tableBytes = 160 << 20
    /// Attachments of one sample table, and bytes of one of them.
    package static let attachments = 1 << 20
    package static let attachmentBytes = 1 << 20
    /// Bytes of one segment's samples, or of one streamed source range.
    package static let segmentBytes: Int64 = 1 << 40
    /// Bytes of one segment's spool file: its samples, their table, their format.
    package static let spoolFileBytes = segmentBytes + Int64(tableBytes + formatBytes + 32)
    /// Times that one lease's source may be asked for anew.
    package static let streams = 1 << 20
    /// Sample bytes of one `source` message. With a table and a format description, each at most a payload frame, no message is
    /// larger than half of what a slot grants at first.
    package static let sourceBytes = 256 << 10
    /// What a slot grants at the beginning of a stream.
    package static let sourceWindow: Int64 = 8 << 20
    /// Bytes of one sample of a source.
    package static let sampleBytes = 1 << 30
    /// Bytes of credit that one message may grant.
    package static let creditBytes: Int64 = 1 << 30

    /// UTF-8 bytes of a name: node, host, encoder, job, option key.
    package static let nameBytes = 255
    /// UTF-8 bytes of a path or URL.
    package static let locationBytes = 4096
    /// UTF-8 bytes of a sentence, a log line, an option's value.
    package static let textBytes = 4096
    /// UTF-8 bytes of a filter graph.
    package static let filterBytes = 64 << 10
    package static let logLines = 64
    package static let warnings = 128
    package static let filterMargin = 1024
    package static let options = 256
    package static let encoders = 256
    /// Segments named by one control message, and rows of one reply.
    package static let rows = 65_536
    package static let segments = 1 << 24
    /// Jumps of the source's clock inside one segment.
    package static let jumps = 4096
    package static let cores = 65_536
    package static let pixels = 65_536
    /// Seconds: a little over three years, so that sums of times stay finite and sane.
    package static let seconds = 100_000_000.0
}
