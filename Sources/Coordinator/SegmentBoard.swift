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
    private var expectedMixing = FormatMixing.refused
    private var redo: (@Sendable (Int, Failure) -> Void)?
    /// How often each segment's file was found damaged.
    private var damages: [Int: Int] = [:]
    /// A disk that alters what is written would keep the job busy for ever.
    private static let mostDamages = 3

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

    /// Who is told of a segment whose file is missing, short or altered, and has it made anew.
    func onDamage(_ redo: @escaping @Sendable (Int, Failure) -> Void) {
        condition.lock()
        self.redo = redo
        condition.unlock()
    }

    /// Some segments come with other settings than the rest.
    func expect(_ mixing: FormatMixing) {
        condition.lock()
        if expectedMixing != .expected { expectedMixing = mixing }
        condition.unlock()
    }

    var mixing: FormatMixing {
        condition.lock()
        defer { condition.unlock() }
        return expectedMixing
    }

    func segment(_ index: Int) throws(Failure) -> any SegmentContent {
        while true {
            let hash = try awaitHash(of: index)
            do {
                return try spool.openSegment(index, expectedHash: hash)
            } catch {
                guard SpoolDamage.isMendable(error), let redo = withdraw(index) else { throw error }
                redo(index, error)
            }
        }
    }

    private func awaitHash(of index: Int) throws(Failure) -> String {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let hash = finished[index] { return hash }
            if let failure { throw failure }
            condition.wait()
        }
    }

    /// - Returns: what has the segment made anew; `nil` where that was tried often enough.
    private func withdraw(_ index: Int) -> (@Sendable (Int, Failure) -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        damages[index, default: 0] += 1
        guard damages[index, default: 0] <= Self.mostDamages, let redo else { return nil }
        finished[index] = nil
        return redo
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
