package import MediaTime

/// Part of a finished segment's spool file, or all of it: as many bytes from `offset` on as one payload frame carries.
package struct SpooledBytes: MessageBody {
    package static let type = "samples"
    package var request: Int
    package var segment: Int
    /// Where in the file the payload begins.
    package var offset: Int64
    /// Bytes of the whole file.
    package var size: Int64
    /// XXH3-128 of the file without its last 32 bytes. A segment that was made anew has another one.
    package var hash: String
    /// Unit of the samples' times.
    package var timeBase: TimeBase
    /// What the segment owns, in ticks.
    package var start: Int64
    package var end: Int64

    package init(
        request: Int, segment: Int, offset: Int64, size: Int64, hash: String, timeBase: TimeBase, start: Int64,
        end: Int64
    ) {
        self.request = request
        self.segment = segment
        self.offset = offset
        self.size = size
        self.hash = hash
        self.timeBase = timeBase
        self.start = start
        self.end = end
    }

    private enum CodingKeys: String, CodingKey {
        case request, segment, offset, size, hash
        case timeBase = "time_base"
        case start, end
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        guard payload.count == 1 else { throw .malformed("samples carries one payload frame.") }
        try PayloadShape.chunk(payload[0], "samples")
        try Bounds.number(segment, "segment", in: 0...ProtocolLimits.segments)
        try Bounds.number(size, "size", in: 1...ProtocolLimits.spoolFileBytes)
        try Bounds.number(offset, "offset", in: 0...size)
        guard payload[0] > 0, Int64(payload[0]) <= size - offset else {
            throw .malformed("samples has \(payload[0]) bytes at \(offset) of \(size).")
        }
        try Bounds.hex(hash, "hash", digits: 32)
        guard start < end else { throw .malformed("The segment ends where it begins.") }
    }
}
