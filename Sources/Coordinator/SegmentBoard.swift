internal import ClusterProtocol
internal import Foundation
internal import Stitching

/// Where the stitch waits for segments, in order.
final class SegmentBoard: SegmentSupply, @unchecked Sendable {
    private let spool: Spool
    private let condition = NSCondition()
    // Guarded by `condition`.
    /// With the hash of its file, which the disk must still give when the segment is used.
    private var finished: [Int: String] = [:]
    private var failure: Failure?
    /// Monotonic nanoseconds of the last segment that arrived.
    private var lastArrival = Clock.now

    init(spool: Spool, finished: [Int: String]) {
        self.spool = spool
        self.finished = finished
    }

    func accept(_ index: Int, hash: String) {
        condition.lock()
        finished[index] = hash
        lastArrival = Clock.now
        condition.broadcast()
        condition.unlock()
    }

    /// The job will not be completed: whoever waits is told why.
    func fail(_ failure: Failure) {
        condition.lock()
        self.failure = self.failure ?? failure
        condition.broadcast()
        condition.unlock()
    }

    func segment(_ index: Int) throws(Failure) -> any SegmentContent {
        condition.lock()
        while finished[index] == nil, failure == nil { condition.wait() }
        let hash = finished[index]
        let failure = hash == nil ? failure : nil
        condition.unlock()
        if let failure { throw failure }
        return try spool.openSegment(index, expectedHash: hash)
    }

    var lastArrivalTime: UInt64 {
        condition.lock()
        defer { condition.unlock() }
        return lastArrival
    }
}

/// Monotonic nanoseconds.
enum Clock {
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Milliseconds since 1970, for the store.
    static var wall: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
