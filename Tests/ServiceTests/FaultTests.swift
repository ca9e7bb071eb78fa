import Foundation
import Support
import Testing

/// The faults of `Benchmarks/faults` that need no other machine, on short jobs.
@Suite("Faults", .serialized)
struct FaultTests {
    /// Long enough on an idle machine, too, for a fault to come back several times before the job is over.
    private static let long = ["-o", "preset=slow", "--segment-duration", "2", "--end", "250"]

    private static let movie = "firefox-esr--movie_300.mp4"

    /// A coordinator that asks for keys, one node beside it, and one that reaches it over a relay.
    private func withRelay(_ body: (Workplace, TCPRelay, _ source: String, _ client: String) throws -> Void) throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        for role in ["worker", "client"] {
            let words = ["keys", "new", "--role", role, "--name", role, "--out", place.file(role + ".key")]
            _ = try place.weft(words + ["--state", place.file("state")])
        }
        let (worker, client) = (place.file("worker.key"), place.file("client.key"))
        try place.startCoordinator(listen: "tcp://127.0.0.1:0", "--require-keys")
        let port = try #require(place.address.split(separator: ":").last.flatMap { UInt16($0) })
        let relay = try TCPRelay(server: "127.0.0.1", serverPort: port)
        defer { relay.stop() }
        try place.startWorker("near", key: worker)
        try place.startWorker("far", key: worker, coordinator: "tcp://127.0.0.1:\(relay.port)")
        try place.awaitWorkers(2, key: client)
        try body(place, relay, source, client)
    }

    private func submit(_ source: String, _ place: Workplace, _ client: String) throws -> String {
        let words = ["submit", source, place.file("out.mp4"), "--key", client, "--json"]
        let outcome = try place.weft(words + Self.long)
        return try #require(outcome.json["job"] as? String, "\(outcome.errors)")
    }

    private func end(_ id: String, _ place: Workplace, _ client: String) throws -> [String] {
        var report: [String: Any] = [:]
        try place.awaits("the job ends", seconds: 240) {
            report = try place.job(id, key: client)
            return report["state"] as? String == "done"
        }
        return report["warnings"] as? [String] ?? []
    }

    @Test("Altered bytes on the way cost a connection and no picture, and the report tells it")
    func altered() throws {
        try withRelay { place, relay, source, client in
            // More, and a hello hardly ever comes through whole: then the coordinator knows of no connection that broke.
            relay.conditions.corruptsOneIn = 20_000
            let id = try submit(source, place, client)
            let warnings = try end(id, place, client)
            #expect(place.bytes("out.mp4") == (try place.reference(source, Self.long)))
            #expect(relay.tally.alteredBytes > 0)
            #expect(warnings.contains { $0.contains("far/0") }, "\(warnings)")
        }
    }

    @Test("A connection that is open and dead is noticed within the heartbeats' time; its segment is not lost")
    func halfOpen() throws {
        try withRelay { place, relay, source, client in
            let id = try submit(source, place, client)
            try place.awaits("work") { try place.job(id, key: client)["segments_done"] as? Int ?? 0 >= 1 }
            let before = relay.tally.connections
            relay.conditions.stalled = [.toServer, .toClient]
            let began = Date()
            // 10 s of silence, and the time that it takes to look and to connect.
            try place.awaits("the node connects anew", seconds: 20) { relay.tally.connections > before }
            #expect(Date().timeIntervalSince(began) > 3)
            relay.reset()
            relay.conditions.stalled = []
            _ = try end(id, place, client)
            #expect(place.bytes("out.mp4") == (try place.reference(source, Self.long)))
        }
    }

    @Test(
        "A node whose slots die again and again is out for longer and longer, says so, and costs the job nothing but time"
    )
    func failingNode() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        let reference = try place.reference(source, Self.long)
        try place.startCoordinator()
        try place.startWorker("good")
        let bad = try place.startWorker("bad")
        try place.awaitWorkers(2)
        let id = try place.submit(source, "out.mp4", Self.long)
        var wasOut = false
        try place.awaits("the job ends", seconds: 240) {
            let rows = try place.weft("workers", "--json").json["workers"] as? [[String: Any]] ?? []
            for row in rows where row["node"] as? String == "bad" {
                wasOut = wasOut || row["state"] as? String == "quarantined"
                // Only what is at work dies.
                if row["state"] as? String == "busy" { Self.killChildren(of: bad.processIdentifier) }
            }
            return !["running", "stitching"].contains(try place.job(id)["state"] as? String)
        }
        let report = try place.awaitEnd(id)
        #expect(report["state"] as? String == "done", "\(report)")
        #expect(wasOut)
        let warnings = report["warnings"] as? [String] ?? []
        #expect(warnings.contains { $0.contains("bad") && $0.contains("No more libx264 work") }, "\(warnings)")
        #expect(place.bytes("out.mp4") == reference)
        let tries = try place.segments(id).flatMap { $0["attempts"] as? [[String: Any]] ?? [] }
        #expect(tries.count { $0["node"] as? String == "bad" } <= 8)
    }

    private static func killChildren(of parent: Int32) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let pid = Int32(name), let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
            else { continue }
            // proc(5): after the name in brackets come the state and the parent.
            let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
            if fields.count > 1, Int32(fields[1]) == parent { kill(pid, SIGKILL) }
        }
    }
}
