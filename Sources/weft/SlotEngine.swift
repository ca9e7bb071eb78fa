internal import ClusterProtocol
internal import Foundation
internal import Worker

/// Runs leases from the coordinator it is told until that says to stop.
enum SlotEngine {
    static func run(_ request: SlotRequest) async throws(Failure) -> ExitCode {
        let predecessor = ProcessInfo.processInfo.environment["WEFT_PREDECESSOR"].flatMap { text in
            try? JSONDecoder().decode(ProcessEnd.self, from: Data(text.utf8))
        }
        let configuration = SlotConfiguration(
            endpoint: request.endpoint, node: request.node ?? ProcessInfo.processInfo.hostName, index: request.index,
            incarnation: request.incarnation ?? String(Int(Date().timeIntervalSince1970 * 1e9)),
            predecessor: predecessor,
            version: Version.number, threads: request.threads,
            security: try request.keyFile.map { path throws(Failure) in try ClusterKey.security(path) },
            isPrivate: request.isPrivate)
        return try await BlockingThread.run("slot") { () throws(Failure) in try Slot.run(configuration) }
    }
}
