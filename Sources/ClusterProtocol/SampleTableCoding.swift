extension SampleTable {
    private static let headBytes = 16
    private static let entryBytes = 32
    private static let attachmentHeadBytes = 12

    // MARK: Writing

    /// The binary form.
    /// - Throws: when a count or a size is above `ProtocolLimits`, or an attachment names no sample of the table.
    package func encoded() throws(ProtocolError) -> [UInt8] {
        try check()
        var bytes: [UInt8] = []
        let attached = attachments.reduce(0) { $0 + Self.attachmentHeadBytes + $1.kind.utf8.count + $1.bytes.count }
        bytes.reserveCapacity(Self.headBytes + entries.count * Self.entryBytes + attached)
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: UInt32(entries.count))
        bytes.append(littleEndian: UInt32(attachments.count))
        bytes.append(littleEndian: UInt32(0))
        for entry in entries {
            bytes.append(littleEndian: entry.pts)
            bytes.append(littleEndian: entry.dts)
            bytes.append(littleEndian: entry.duration)
            bytes.append(littleEndian: entry.size)
            bytes.append(littleEndian: entry.flags.rawValue)
        }
        for attachment in attachments {
            bytes.append(littleEndian: UInt32(attachment.sample))
            bytes.append(littleEndian: UInt16(attachment.kind.utf8.count))
            bytes.append(littleEndian: UInt16(0))
            bytes.append(littleEndian: UInt32(attachment.bytes.count))
            bytes.append(contentsOf: attachment.kind.utf8)
            bytes.append(contentsOf: attachment.bytes)
        }
        guard bytes.count <= ProtocolLimits.tableBytes else {
            throw .limit("The sample table has \(bytes.count) bytes; at most \(ProtocolLimits.tableBytes) are allowed.")
        }
        return bytes
    }

    /// The binary form cut into frames that a result message may carry.
    package func frames() throws(ProtocolError) -> [[UInt8]] {
        let bytes = try encoded()
        return stride(from: 0, to: bytes.count, by: ProtocolLimits.chunkBytes).map { start in
            Array(bytes[start..<min(bytes.count, start + ProtocolLimits.chunkBytes)])
        }
    }

    private func check() throws(ProtocolError) {
        try Bounds.count(entries.count, "The sample table", atMost: ProtocolLimits.samples)
        try Bounds.count(attachments.count, "The attachments", atMost: ProtocolLimits.attachments)
        for entry in entries { try entry.check() }
        var before = 0
        for attachment in attachments {
            try attachment.check(before: before, samples: entries.count)
            before = attachment.sample
        }
    }

    // MARK: Reading

    /// - Parameters:
    ///   - bytes: the binary form, all of it and nothing else.
    ///   - payloadBytes: bytes of the samples, which the sizes must add up to; `nil` where that is not known.
    ///   - samples: samples that must be in it; `nil` where that is not known.
    package init(
        bytes: UnsafeRawBufferPointer, payloadBytes: Int64? = nil, samples: Int? = nil
    ) throws(ProtocolError) {
        guard bytes.count <= ProtocolLimits.tableBytes else {
            throw .limit("The sample table has \(bytes.count) bytes; at most \(ProtocolLimits.tableBytes) are allowed.")
        }
        var reader = TableReader(bytes: bytes)
        let (count, attachmentCount) = try Self.readHead(&reader)
        if let samples, samples != count {
            throw .malformed("The sample table has \(count) samples; \(samples) were announced.")
        }
        // Everything that is about to be allocated is there: the counts cannot ask for more than the bytes hold.
        guard reader.remaining >= count * Self.entryBytes + attachmentCount * Self.attachmentHeadBytes else {
            throw .malformed("The sample table is shorter than its counts say.")
        }
        entries = try Self.readEntries(&reader, count: count)
        attachments = try Self.readAttachments(&reader, count: attachmentCount, samples: count)
        guard reader.remaining == 0 else { throw .malformed("Bytes follow the sample table.") }
        if let payloadBytes, payloadBytes != self.payloadBytes {
            throw .malformed("The samples have \(self.payloadBytes) bytes; \(payloadBytes) arrived.")
        }
    }

    /// A table that came in several frames.
    package init(
        frames: [[UInt8]], payloadBytes: Int64? = nil, samples: Int? = nil
    ) throws(ProtocolError) {
        try PayloadShape.table(frames.map(\.count)[...])
        self = try Array(frames.joined()).span.withUnsafeBytes { (bytes) throws(ProtocolError) in
            try SampleTable(bytes: bytes, payloadBytes: payloadBytes, samples: samples)
        }
    }

    private static func readHead(_ reader: inout TableReader) throws(ProtocolError) -> (Int, Int) {
        let version = try reader.next(UInt32.self)
        guard version == Self.version else {
            throw ProtocolError(.version(Int(version)), "The sample table has the unknown version \(version).")
        }
        let count = Int(try reader.next(UInt32.self))
        let attachments = Int(try reader.next(UInt32.self))
        guard try reader.next(UInt32.self) == 0 else { throw .malformed("A reserved field is not 0.") }
        try Bounds.count(count, "The sample table", atMost: ProtocolLimits.samples)
        try Bounds.count(attachments, "The attachments", atMost: ProtocolLimits.attachments)
        return (count, attachments)
    }

    private static func readEntries(
        _ reader: inout TableReader, count: Int
    ) throws(ProtocolError) -> [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let entry = Entry(
                pts: try reader.next(Int64.self), dts: try reader.next(Int64.self),
                duration: try reader.next(Int64.self), size: try reader.next(UInt32.self),
                flags: Flags(rawValue: try reader.next(UInt32.self)))
            try entry.check()
            entries.append(entry)
        }
        return entries
    }

    private static func readAttachments(
        _ reader: inout TableReader, count: Int, samples: Int
    ) throws(ProtocolError) -> [Attachment] {
        var attachments: [Attachment] = []
        attachments.reserveCapacity(count)
        var before = 0
        for _ in 0..<count {
            let sample = Int(try reader.next(UInt32.self))
            let kindBytes = Int(try reader.next(UInt16.self))
            guard try reader.next(UInt16.self) == 0 else { throw .malformed("A reserved field is not 0.") }
            let size = Int(try reader.next(UInt32.self))
            guard size <= ProtocolLimits.attachmentBytes else { throw .limit("An attachment has \(size) bytes.") }
            guard let kind = String(validating: try reader.take(kindBytes), as: UTF8.self) else {
                throw .malformed("The kind of an attachment is not UTF-8.")
            }
            let attachment = Attachment(sample: sample, kind: kind, bytes: Array(try reader.take(size)))
            try attachment.check(before: before, samples: samples)
            before = sample
            attachments.append(attachment)
        }
        return attachments
    }
}

extension SampleTable.Entry {
    func check() throws(ProtocolError) {
        guard duration >= 0 else { throw .malformed("A sample has the negative duration \(duration).") }
    }
}

extension SampleTable.Attachment {
    /// - Parameter before: the sample of the attachment before this one.
    func check(before: Int, samples: Int) throws(ProtocolError) {
        guard sample >= before, sample < samples else { throw .malformed("An attachment names sample \(sample).") }
        try Bounds.name(kind, "attachment.kind")
        guard bytes.count <= ProtocolLimits.attachmentBytes else {
            throw .limit("An attachment has \(bytes.count) bytes.")
        }
    }
}

/// Reads integers and runs of bytes from the front, never past the end.
private struct TableReader {
    let bytes: UnsafeRawBufferPointer
    var position = 0
    var remaining: Int { bytes.count - position }

    mutating func take(_ count: Int) throws(ProtocolError) -> UnsafeRawBufferPointer {
        guard count <= remaining else { throw .malformed("The sample table is cut short.") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func next<Value: FixedWidthInteger>(_ type: Value.Type) throws(ProtocolError) -> Value {
        Value(littleEndian: try take(MemoryLayout<Value>.size).loadUnaligned(as: Value.self))
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
