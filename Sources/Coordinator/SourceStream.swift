internal import ClusterProtocol
internal import Media
internal import Messaging
internal import SegmentPlan
internal import SourceAccess

/// The samples of one lease's segment, cut into the messages of one stream.
///
/// Where messages are cut follows from the samples alone, never from credit, so that a slot whose connection broke can go on with
/// message n of a new stream. It holds one message at most beside the sample that the message ended in.
///
/// Used by one thread at a time.
final class SourceStream: @unchecked Sendable {
    struct Order: Sendable {
        let fence: Fence
        let lease: LeaseName
        let peer: PeerIdentity
        let source: SourceReference
        let segment: Segment
        /// Samples beyond the segment are wanted, too.
        let goesOn: Bool
        /// As the slot numbered it.
        let number: Int
        /// The first message that is sent.
        let from: Int
    }

    struct Message {
        var header: SourceChunk
        var payload: [MessageFrame]
        var bytes: Int { payload.reduce(0) { $0 + $1.count } }
    }

    let order: Order
    private let session: SourceSession
    private var sequence = 0
    private var offset: Int64 = 0
    /// The sample that is being cut, and how much of it is in messages already.
    private var current: (sample: Sample, used: Int)?
    /// Read, and too large for the table of the message before.
    private var held: Sample?
    private var isAtEnd = false
    private(set) var isFinished = false

    /// Bytes of a table after which a message takes no further sample.
    private static let tableBytes = 256 << 10

    /// Positions the source. Blocks on the disk.
    init(_ order: Order, session: SourceSession) throws(Failure) {
        self.order = order
        self.session = session
        try session.begin(order.segment, goesOn: order.goesOn)
    }

    /// The next message that the slot wants; `nil` after the last. Blocks on the disk.
    func next() throws(Failure) -> Message? {
        while !isFinished {
            let message = try cut()
            if message.header.sequence >= order.from { return message }
        }
        return nil
    }

    private func cut() throws(Failure) -> Message {
        var table = SampleTable()
        var tableBytes = 0
        var parts: [(sample: Sample, range: Range<Int>)] = []
        var room = ProtocolLimits.sourceBytes
        while room > 0, tableBytes < Self.tableBytes {
            if let (sample, used) = current {
                let part = min(room, sample.size - used)
                if part > 0 { parts.append((sample, used..<used + part)) }
                room -= part
                current = used + part < sample.size ? (sample, used + part) : nil
                continue
            }
            guard let sample = try take() else { break }
            let attachments = sample.attachments
            let size = 32 + attachments.reduce(0) { $0 + 12 + $1.kind.rawValue.utf8.count + $1.bytes.count }
            if tableBytes > 0, tableBytes + size > 2 * Self.tableBytes {
                held = sample
                break
            }
            add(sample, attachments, to: &table)
            tableBytes += size
            current = (sample, 0)
        }
        // Whether it is the last is known only when there is no further sample.
        if current == nil, held == nil { held = try take() }
        isFinished = current == nil && held == nil
        return try message(table, parts, bytes: ProtocolLimits.sourceBytes - room)
    }

    private func take() throws(Failure) -> Sample? {
        if let sample = held {
            held = nil
            return sample
        }
        guard !isAtEnd else { return nil }
        let sample = try session.next()
        isAtEnd = sample == nil
        return sample
    }

    private func add(_ sample: Sample, _ attachments: [Attachment], to table: inout SampleTable) {
        for attachment in attachments {
            table.attachments.append(
                SampleTable.Attachment(
                    sample: table.entries.count, kind: attachment.kind.rawValue, bytes: attachment.bytes))
        }
        table.entries.append(SampleTable.Entry(sample))
    }

    private func message(
        _ table: SampleTable, _ parts: [(sample: Sample, range: Range<Int>)], bytes: Int
    ) throws(Failure) -> Message {
        var payload: [MessageFrame] = []
        do {
            if sequence == 0 { payload.append(MessageFrame(session.picture.format.archive())) }
            payload.append(MessageFrame(try table.encoded()))
        } catch {
            throw Failure(
                .format, "The samples of \(order.source.location) cannot be sent: \(error.detail)",
                advice: "Let the nodes see the source under the same path or URL.", fault: .source)
        }
        payload.append(
            MessageFrame(count: bytes) { buffer in
                var filled = 0
                for (sample, range) in parts {
                    sample.withUnsafeBytes { source in
                        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + range.count])
                        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
                    }
                    filled += range.count
                }
                return filled
            })
        let header = SourceChunk(
            lease: order.lease, stream: order.number, sequence: sequence, offset: offset, last: isFinished,
            track: sequence == 0 ? session.picture.described : nil)
        sequence += 1
        offset += Int64(bytes)
        return Message(header: header, payload: payload)
    }
}
