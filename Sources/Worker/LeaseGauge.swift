internal import ClusterProtocol
internal import Foundation
internal import Synchronization

/// How far a lease is and where its time went; written by the pipeline's threads, read by the one that reports.
final class LeaseGauge: Sendable {
    enum Stage: Int, CaseIterable {
        case read, decode, filter, encode, send
    }

    private let frames = Atomic<Int>(0)
    private let ticks = Atomic<Int64>(.min)
    private let bytes = Atomic<Int64>(0)
    private let bytesRead = Atomic<Int64>(0)
    private let read = Atomic<Int64>(0)
    private let decode = Atomic<Int64>(0)
    private let filter = Atomic<Int64>(0)
    private let encode = Atomic<Int64>(0)
    private let send = Atomic<Int64>(0)

    /// One more owned frame went through the encoder.
    func countFrame(at pts: Int64) {
        frames.wrappingAdd(1, ordering: .relaxed)
        ticks.store(pts, ordering: .relaxed)
    }

    func count(bytes count: Int) { bytes.wrappingAdd(Int64(count), ordering: .relaxed) }
    func count(bytesRead count: Int) { bytesRead.wrappingAdd(Int64(count), ordering: .relaxed) }

    /// Adds the time since `start`.
    /// - Returns: now, for the stage that follows.
    @discardableResult
    func add(_ stage: Stage, since start: UInt64) -> UInt64 {
        let now = Self.now
        let elapsed = Int64(clamping: now &- start)
        switch stage {
        case .read: read.wrappingAdd(elapsed, ordering: .relaxed)
        case .decode: decode.wrappingAdd(elapsed, ordering: .relaxed)
        case .filter: filter.wrappingAdd(elapsed, ordering: .relaxed)
        case .encode: encode.wrappingAdd(elapsed, ordering: .relaxed)
        case .send: send.wrappingAdd(elapsed, ordering: .relaxed)
        }
        return now
    }

    /// Monotonic nanoseconds.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    var frameCount: Int { frames.load(ordering: .relaxed) }
    var byteCount: Int64 { bytes.load(ordering: .relaxed) }
    var bytesReadCount: Int64 { bytesRead.load(ordering: .relaxed) }

    /// Presentation time of the last frame, ticks; `nil` before the first.
    var position: Int64? {
        let value = ticks.load(ordering: .relaxed)
        return value == .min ? nil : value
    }

    var seconds: StageSeconds {
        func seconds(_ value: Int64) -> Double { Double(max(0, value)) / 1e9 }
        return StageSeconds(
            read: seconds(read.load(ordering: .relaxed)), decode: seconds(decode.load(ordering: .relaxed)),
            filter: seconds(filter.load(ordering: .relaxed)), encode: seconds(encode.load(ordering: .relaxed)),
            send: seconds(send.load(ordering: .relaxed)))
    }
}
