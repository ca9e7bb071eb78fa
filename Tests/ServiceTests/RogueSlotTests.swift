import Foundation
import Testing

/// Slots that return what no encoder made, with a hash that fits: bad memory, or a machine that lies.
@Suite("Slots that return something else", .serialized)
struct RogueSlotTests {
    private static let options = ["-o", "preset=veryfast", "--segment-duration", "5", "--end", "50"]
    private static let movie = "firefox-esr--movie_300.mp4"

    /// A coordinator with keys, whose only node so far is the rogue; a good one comes when that has begun to work.
    private func run(
        _ mode: String, _ words: [String] = [],
        _ body: (_ place: Workplace, _ report: [String: Any], Data) throws -> Void
    ) throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        let reference = try place.reference(source, Self.options)
        for role in ["worker", "client"] {
            let words = ["keys", "new", "--role", role, "--name", role, "--out", place.file(role + ".key")]
            _ = try place.weft(words + ["--state", place.file("state")])
        }
        let (worker, client) = (place.file("worker.key"), place.file("client.key"))
        try place.startCoordinator("--require-keys", words.first ?? "--check-segments", words.last ?? "compare")
        guard try place.startRogue("bad", mode, key: worker) else { return }
        try place.awaitWorkers(1, key: client)
        let submit = ["submit", source, place.file("out.mp4"), "--key", client, "--json"]
        let id = try #require(try place.weft(submit + Self.options).json["job"] as? String)
        try place.awaits("the rogue works") { try place.job(id, key: client)["attempts"] as? Int ?? 0 >= 1 }
        try place.startWorker("good", key: worker)
        var report: [String: Any] = [:]
        try place.awaits("the job ends", seconds: 240) {
            report = try place.job(id, key: client)
            return ["done", "failed"].contains(report["state"] as? String ?? "")
        }
        try body(place, report, reference)
    }

    @Test(
        "Its segments are made again by another node, the output is the same, and the report tells who it was",
        arguments: ["samples", "swapped", "times", "format"])
    func caught(mode: String) throws {
        try run(mode) { place, report, reference in
            #expect(report["state"] as? String == "done", "\(report)")
            #expect(place.bytes("out.mp4") == reference)
            let checks = report["checks"] as? [String: Any]
            #expect(checks?["redone"] as? Int ?? 0 >= 1, "\(report)")
            let warnings = report["warnings"] as? [String] ?? []
            #expect(
                warnings.contains { $0.contains("bad/0") && $0.contains("not what the source gives") }, "\(warnings)")
            #expect(warnings.contains { $0.hasPrefix("bad") && $0.contains("No more libx264 work") }, "\(warnings)")
            #expect(!warnings.contains { $0.contains("good/0: What the slot") }, "\(warnings)")
            // Whoever has mended it can say so.
            let client = place.file("client.key")
            #expect(try place.weft("workers", "release", "bad", "--key", client).code == 0)
            let rows = try place.weft("workers", "--json", "--key", client).json["workers"] as? [[String: Any]] ?? []
            #expect(rows.contains { $0["node"] as? String == "bad" && $0["state"] as? String != "quarantined" })
        }
    }

    @Test("Where nothing is looked at, the altered bytes are in the output: this is what the looking is for")
    func unchecked() throws {
        try run("samples", ["--check-segments", "none"]) { place, report, reference in
            #expect(report["state"] as? String == "done")
            #expect(place.bytes("out.mp4") != reference)
            #expect(report["checks"] == nil)
        }
    }

    @Test("Pictures that their settings leave little of are doubted, encoded once more, and accepted")
    func poorQuality() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        let options = ["--quality", "51", "-o", "preset=veryfast", "--end", "40"]
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let report = try place.awaitEnd(try place.submit(source, "out.mp4", options))
        #expect(report["state"] as? String == "done", "\(report)")
        #expect(place.bytes("out.mp4") == (try place.reference(source, options)))
        let checks = report["checks"] as? [String: Any]
        #expect(checks?["encoded"] as? Int ?? 0 >= 1)
        #expect(checks?["redone"] as? Int == 0)
    }

    @Test("Everything can be encoded once more: a byte that no decoder looks at is caught, too")
    func encodedAgain() throws {
        try run("once", ["--check-segments", "encode"]) { place, report, reference in
            #expect(report["state"] as? String == "done", "\(report)")
            #expect(place.bytes("out.mp4") == reference)
            let checks = report["checks"] as? [String: Any]
            #expect(checks?["encoded"] as? Int == checks?["segments"] as? Int)
            #expect(checks?["redone"] as? Int == 1)
        }
    }
}
