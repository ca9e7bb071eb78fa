internal import ClusterProtocol

/// What a slot has done since it joined, without the lease at hand.
struct WorkerTally {
    var host = ""
    var sourceAccess: Lease.Access?
    var frames = 0
    var bytesIn: Int64 = 0
    var bytesOut: Int64 = 0
    /// Seconds of finished leases.
    var seconds = 0.0
    var stages = StageSeconds()
    /// When it said goodbye; `nil` while it is there, or when it is gone without a word.
    var left: UInt64?

    mutating func add(_ result: SegmentResult) {
        frames += result.frames
        bytesIn += result.bytesRead
        bytesOut += result.bytes
        seconds += result.seconds
        stages = stages + result.stageSeconds
    }
}
