/// The sender's side of credit: how many bytes the peer can take.
package struct CreditBalance: Hashable, Sendable {
    package private(set) var available: Int64

    /// - Parameter available: the credit that came with the lease.
    package init(_ available: Int64 = 0) { self.available = min(max(0, available), ProtocolLimits.segmentBytes) }

    package mutating func grant(_ bytes: Int64) {
        let (sum, overflow) = available.addingReportingOverflow(max(0, bytes))
        available = overflow ? ProtocolLimits.segmentBytes : min(sum, ProtocolLimits.segmentBytes)
    }

    /// Takes `bytes` of the balance.
    /// - Returns: `false`, and takes nothing, when there is not enough.
    package mutating func spend(_ bytes: Int) -> Bool {
        guard bytes >= 0, Int64(bytes) <= available else { return false }
        available -= Int64(bytes)
        return true
    }
}

/// The receiver's side of credit: a window of bytes that may be on the way or in memory. It keeps a peer that ignores credit
/// from filling the memory, and decides when a new grant is worth a message.
package struct CreditWindow: Hashable, Sendable {
    /// Bytes that may be outstanding in all.
    package let size: Int64
    /// Granted and not yet arrived.
    private var granted: Int64
    /// Arrived, consumed, and not yet granted again.
    private var returned: Int64 = 0

    /// - Parameter size: also the credit that the lease grants at first.
    package init(size: Int64) {
        self.size = min(max(1, size), ProtocolLimits.creditBytes)
        granted = self.size
    }

    /// Bytes arrived.
    /// - Throws: when the peer sent more than it was granted.
    package mutating func receive(_ bytes: Int) throws(ProtocolError) {
        guard bytes >= 0, Int64(bytes) <= granted else {
            throw .limit("The peer sent \(bytes) bytes on a credit of \(granted).")
        }
        granted -= Int64(bytes)
    }

    /// Bytes that had arrived were written away or thrown away.
    /// - Returns: bytes to grant now; 0 while it is too little to be worth a message.
    package mutating func consume(_ bytes: Int) -> Int64 {
        returned += Int64(max(0, bytes))
        returned = min(returned, size - granted)
        guard returned >= max(1, size / 4) else { return 0 }
        let grant = returned
        returned = 0
        granted += grant
        return grant
    }
}

/// Checks that the chunks of a lease come one after another: none twice, none left out, none after the end of what is allowed.
package struct ChunkSequence: Hashable, Sendable {
    package private(set) var nextSequence = 0
    /// Bytes so far.
    package private(set) var offset: Int64

    /// - Parameter offset: bytes that are there already, when a lease goes on after a restart.
    package init(offset: Int64 = 0) { self.offset = offset }

    package mutating func accept(_ chunk: Chunk, bytes: Int) throws(ProtocolError) {
        guard chunk.sequence == nextSequence, chunk.offset == offset else {
            throw .malformed(
                "Chunk \(chunk.sequence) at byte \(chunk.offset) came where chunk \(nextSequence) at \(offset) was due."
            )
        }
        guard bytes >= 0, Int64(bytes) <= ProtocolLimits.segmentBytes - offset else {
            throw .limit("The segment has more than \(ProtocolLimits.segmentBytes) bytes.")
        }
        nextSequence += 1
        offset += Int64(bytes)
    }

    /// The result must be about the bytes that came.
    package func check(_ result: SegmentResult) throws(ProtocolError) {
        guard result.bytes == offset else {
            throw .malformed("The result is about \(result.bytes) bytes, but \(offset) arrived.")
        }
    }
}
