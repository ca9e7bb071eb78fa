import Foundation
import Testing

/// Damaged messages, sent to a coordinator over real sockets.
@Suite("Damaged messages at a coordinator")
struct StormTests {
    /// Messages a storm; `WEFT_FUZZ` gives more.
    private static let rounds = ProcessInfo.processInfo.environment["WEFT_FUZZ"] ?? "6000"

    @Test("A coordinator stands a storm of damaged messages, stays small, and does the next job as if nothing had been")
    func storm() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 60) else { return }
        let coordinator = try place.startCoordinator("--root", place.path)
        for number in 0..<3 {
            _ = try place.submit(source, "struck-\(number).mp4", ["-o", "preset=ultrafast", "--segment-duration", "2"])
        }
        let seed = UInt64.random(in: 0...999_999)
        let outcome = try place.beside(
            "ProtocolFuzz", ["--connect", place.address, "--seed", "\(seed)", "--rounds", Self.rounds])
        #expect(outcome.code == 0, "--seed \(seed): \(outcome.errors)")
        #expect(coordinator.isRunning, "--seed \(seed): \(place.log("coordinator"))")
        // Credit and limits bound what a peer can make the coordinator hold.
        let peak = try Self.peak(of: coordinator.processIdentifier)
        print("\(outcome.output) The coordinator had at most \(peak >> 20) MiB.")
        #expect(peak < 512 << 20, "--seed \(seed): the coordinator had \(peak >> 20) MiB")
        // Some of the jobs were started over or cancelled by what got through; what comes now is not their affair.
        for number in 0..<3 { try? FileManager.default.removeItem(atPath: place.file("struck-\(number).mp4")) }
        for row in try place.weft("jobs", "--json").json["jobs"] as? [[String: Any]] ?? [] {
            if let id = row["job"] as? String { try place.weft("cancel", id) }
        }
        try place.startWorker("real")
        let options = ["-o", "preset=ultrafast", "--segment-duration", "2", "--end", "10"]
        let job = try place.weft(["submit", source, place.file("after.mp4"), "--wait", "--json"] + options)
        #expect(job.code == 0, "--seed \(seed): \(job.errors)")
        #expect(try place.bytes("after.mp4") == place.reference(source, options))
    }

    /// Bytes of memory that the process had at most (proc(5), VmHWM).
    private static func peak(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return 1024 * (try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }))
    }
}
