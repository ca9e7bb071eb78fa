import ClusterProtocol
import Foundation
import JobStore
import Scheduling

/// A directory of its own for one test, gone afterwards.
final class TemporaryStore {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("weft-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    var path: String { directory.appendingPathComponent("jobs.sqlite").path }

    func open() throws -> JobStore { try JobStore(at: path, busyTimeout: 50) }

    static let film = JobID("film")
    static let worker = WorkerID(node: "a", slot: 3, incarnation: .max)
    static let failure = Failure(.encoder, "It broke.", advice: "Mend it.", code: -22, log: ["x265 [error]: \"no\""])

    static func job(_ id: JobID = film, segments: Int = 10, created: Int64 = 1000) throws -> JobRecord {
        JobRecord(
            id: id, priority: 2, destination: "/tmp/ä b.mp4", settings: try JSONText(ExportSettings()),
            source: JSONText(text: "{}"), plan: JSONText(text: "[1,2]"), segmentCount: segments, created: created)
    }

    static func accepted(_ index: Int, lease: UInt64) -> AcceptedSegment {
        AcceptedSegment(
            index: index, lease: LeaseID(lease), worker: worker, spoolFile: "\(index)-\(lease).seg", bytes: 1 << 40,
            hash: "00ff\(index)", frames: 250, encodeSeconds: 1.25, detail: JSONText(text: "{\"x\":1}"))
    }
}

/// The kind of error that the closure throws; `nil` where it throws none of ours.
func errorKind(_ body: () throws -> Void) -> JobStoreError.Kind? {
    do {
        try body()
        return nil
    } catch {
        return (error as? JobStoreError)?.kind
    }
}
