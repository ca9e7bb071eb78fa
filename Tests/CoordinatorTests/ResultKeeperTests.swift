import ClusterProtocol
import Foundation
import JobStore
import Media
import Scheduling
import SourceAccess
import Stitching
import Synchronization
import Testing

@testable import Coordinator

@Suite("Result keeper") struct ResultKeeperTests {
    private let job = JobID("film")

    private func withKeeper(_ body: (ResultKeeper, Spool, SerialThread, JobStore) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "/weft-keeper-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let spool = try Spool(directory: path + "/spool")
        let store = try JobStore(at: path + "/jobs.db")
        try store.createJob(
            JobRecord(
                id: job, state: .running, destination: "/out.mp4", settings: try JSONText(ExportSettings()),
                source: JSONText(text: "{}"), plan: JSONText(text: "[]"), segmentCount: 100, created: 1))
        let storage = SerialThread(name: "test-storage")
        try body(ResultKeeper(storage, store: StoreBox(store)), spool, storage, store)
    }

    private func keep(
        _ segment: Int, lease: UInt64, announced: String?, _ keeper: ResultKeeper, _ spool: Spool,
        _ storage: SerialThread, done: @escaping @Sendable (Failure?) -> Void
    ) throws {
        let picture = FrameFormat(width: 64, height: 48, pixelFormat: "yuv420p", timeBase: .milliseconds)
        let archive = try CompressionSession(settings: CompressionSettings(encoder: "libx264", video: picture)).format
            .archive()
        let table = try SampleTable(entries: [.init(pts: 0, dts: 0, duration: 1, size: 1000, flags: .sync)]).encoded()
        let bytes = [UInt8](repeating: UInt8(segment), count: 1000)
        var hash = ContentHash()
        hash.update(bytes)
        let result = SegmentResult(
            lease: LeaseName(job: job.text, fence: lease), frames: 1, samples: 1, bytes: 1000,
            hash: announced ?? hash.finish())
        let receiver = SegmentReceiver(spool: spool, segment: segment, lease: lease)
        storage.perform { bytes.withUnsafeBytes { receiver.append($0) } }
        keeper.keep(
            job, receiver, in: spool,
            finish: { (receiver) throws(Failure) in
                let file = try receiver.finish(result, archive: archive, table: table, times: 0..<1)
                return AcceptedSegment(
                    index: segment, lease: LeaseID(lease), worker: WorkerID(node: "n", slot: 0, incarnation: 1),
                    spoolFile: Spool.fileName(ofSegment: segment), bytes: file.bytes, hash: file.hash, frames: 1,
                    encodeSeconds: 0)
            },
            done: { outcome in
                if case .failure(let failure) = outcome { done(failure) } else { done(nil) }
            })
    }

    private func finished(_ store: JobStore) throws -> [Int] {
        try store.segments(of: job).compactMap { if case .finished(let segment) = $0 { segment.index } else { nil } }
    }

    @Test("Results that come together are all durable when each is told; the altered one is the worker's fault")
    func altered() throws {
        let failures = Mutex<[Int: Failure?]>([:])
        try withKeeper { keeper, spool, storage, store in
            for segment in 0..<40 {
                let hash = segment == 7 ? String(repeating: "0", count: 32) : nil
                try keep(segment, lease: UInt64(segment + 1), announced: hash, keeper, spool, storage) { failure in
                    failures.withLock { $0[segment] = .some(failure) }
                }
            }
            storage.close()
            let told = failures.withLock { $0 }
            #expect(told.count == 40)
            for (segment, failure) in told {
                #expect(segment == 7 ? failure?.fault == .worker && failure?.boundary == .transport : failure == nil)
            }
            let kept = try finished(store)
            #expect(kept == Array(0..<40).filter { $0 != 7 })
            let names = try FileManager.default.contentsOfDirectory(atPath: spool.directory)
            #expect(names.count == 39 && !names.contains { $0.hasSuffix(".part") })
        }
    }

    @Test("A lease that the store refuses costs those that came with it nothing")
    func refused() throws {
        let failures = Mutex<[Int]>([])
        try withKeeper { keeper, spool, storage, store in
            for (segment, lease) in [(0, 1), (1, 1), (2, 3)] {
                try keep(segment, lease: UInt64(lease), announced: nil, keeper, spool, storage) { failure in
                    if failure != nil { failures.withLock { $0.append(segment) } }
                }
            }
            storage.close()
            #expect(failures.withLock { $0 } == [1])
            let kept = try finished(store)
            #expect(kept == [0, 2])
        }
    }
}
