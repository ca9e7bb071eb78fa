internal import ClusterProtocol
internal import Media
internal import Messaging
internal import SourceAccess

/// Puts the samples of a streamed source together again: tables name them, and their bytes come as one stream that messages cut
/// anywhere. It holds no more than what has arrived; what a table announces is only compared.
struct SourceAssembly {
    private var entries: ArraySlice<SampleTable.Entry> = []
    /// By number of the sample.
    private var attachments: [Int: [SampleTable.Attachment]] = [:]
    private var frames: [MessageFrame] = []
    /// Bytes of the first frame that are used up.
    private var used = 0
    /// Bytes that no sample has taken yet.
    private var available = 0
    /// Announced and not yet taken.
    private var owed = 0
    /// Samples that were announced, and that were taken.
    private var samples = 0
    private var taken = 0
    private var sequence = 0
    private var offset: Int64 = 0
    private var isLast = false
    private(set) var picture: SourcePicture?
    /// Changes where a sample brings other parameter sets.
    private var format: FormatDescription?

    /// Every sample was taken.
    var isFinished: Bool { isLast && entries.isEmpty }

    mutating func add(_ chunk: SourceChunk, _ payload: [MessageFrame]) throws(Failure) {
        guard !isLast, chunk.sequence == sequence, chunk.offset == offset, payload.count >= 2 else {
            throw Self.broken(
                "Part \(chunk.sequence) at byte \(chunk.offset) came where \(sequence) at \(offset) was due.")
        }
        if let track = chunk.track {
            do {
                let format = try FormatDescription(archive: payload[0].bytes)
                self.format = format
                picture = SourcePicture(track, format: format)
            } catch {
                throw Failure(error, role: .source)
            }
        }
        let bytes = payload[payload.count - 1]
        try add(table: payload[payload.count - 2])
        guard bytes.count <= owed - available else { throw Self.broken("Bytes came that belong to no sample.") }
        if bytes.count > 0 { frames.append(bytes) }
        available += bytes.count
        offset += Int64(bytes.count)
        sequence += 1
        isLast = chunk.last
        guard !isLast || available == owed else { throw Self.broken("The last sample is cut short.") }
    }

    private mutating func add(table frame: MessageFrame) throws(Failure) {
        let table: SampleTable
        do {
            table = try frame.withUnsafeBytes { (bytes) throws(ProtocolError) in try SampleTable(bytes: bytes) }
        } catch {
            throw Self.broken(error.detail)
        }
        guard samples + table.entries.count <= ProtocolLimits.samples else {
            throw Self.broken("The segment has too many samples.")
        }
        for attachment in table.attachments { attachments[samples + attachment.sample, default: []].append(attachment) }
        samples += table.entries.count
        for entry in table.entries {
            guard entry.size <= ProtocolLimits.sampleBytes else {
                throw Self.broken("A sample is said to have \(entry.size) bytes.")
            }
            // At most 2^22 samples of 2^30 bytes: no overflow.
            owed += Int(entry.size)
        }
        entries += table.entries
    }

    /// - Returns: the next sample; `nil` while its bytes are not all there.
    mutating func next() throws(Failure) -> Sample? {
        guard let entry = entries.first, Int(entry.size) <= available, let picture, let format else { return nil }
        entries.removeFirst()
        let attached = attachments.removeValue(forKey: taken) ?? []
        taken += 1
        let size = Int(entry.size)
        available -= size
        owed -= size
        let kept = attached.map { Attachment(kind: .init(rawValue: $0.kind), bytes: $0.bytes) }
        do throws(MediaError) {
            // As the demuxer does: the sample that brings new parameter sets is the first under them.
            let current =
                try kept.first { $0.kind == .newExtradata }
                .map { (attachment) throws(MediaError) in try format.replacingExtradata(attachment.bytes) } ?? format
            self.format = current
            return try take(size) { (bytes) throws(MediaError) in
                try Sample(
                    bytes: bytes, format: current, timeBase: picture.timeBase,
                    pts: entry.pts == SampleTable.noTime ? nil : entry.pts,
                    dts: entry.dts == SampleTable.noTime ? nil : entry.dts, duration: entry.duration,
                    isSync: entry.flags.contains(.sync), isDiscarded: entry.flags.contains(.discard),
                    isCorrupt: entry.flags.contains(.corrupt), attachments: kept)
            }
        } catch {
            throw Failure(error, role: .source)
        }
    }

    /// Calls `body` with the next bytes: in place where one frame holds them all.
    private mutating func take<Result>(
        _ size: Int, _ body: (UnsafeRawBufferPointer) throws(MediaError) -> Result
    ) throws(MediaError) -> Result {
        if let first = frames.first, first.count - used >= size {
            defer { drop(size) }
            return try first.withUnsafeBytes { (bytes) throws(MediaError) in
                try body(UnsafeRawBufferPointer(rebasing: bytes[used..<used + size]))
            }
        }
        var gathered: [UInt8] = []
        gathered.reserveCapacity(size)
        while gathered.count < size, let frame = frames.first {
            let part = min(size - gathered.count, frame.count - used)
            frame.withUnsafeBytes { gathered.append(contentsOf: $0[used..<used + part]) }
            drop(part)
        }
        return try gathered.span.withUnsafeBytes { (bytes) throws(MediaError) in try body(bytes) }
    }

    private mutating func drop(_ count: Int) {
        used += count
        if let first = frames.first, used >= first.count {
            frames.removeFirst()
            used = 0
        }
    }

    private static func broken(_ detail: String) -> Failure {
        Failure(
            .transport, "The streamed source cannot be read: \(detail)",
            advice: "Run the same version of weft on both machines.", retry: .retry, fault: .environment)
    }
}
