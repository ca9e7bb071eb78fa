import Foundation
import Testing

@Suite("A rerun", .serialized)
struct RerunTests {
    private static let cut = ["--segment-duration", "2"]

    struct Case: Sendable, CustomTestStringConvertible {
        var target: String
        var options: [String]
        var other: [String]
        /// The name of the picture's sample entry afterwards; `nil` where the container has none.
        var entry: String?
        var testDescription: String { "\(options.joined(separator: " ")) in \(target)" }
    }

    static let cases = [
        Case(target: "out.mp4", options: ["-o", "preset=ultrafast"], other: ["--quality", "12"], entry: "avc3"),
        Case(target: "out.mkv", options: ["-o", "preset=ultrafast"], other: ["--quality", "12"]),
        Case(
            target: "out.mp4", options: ["--video-codec", "hevc", "-o", "preset=ultrafast"],
            other: ["-o", "x265-params=sao=1:ref=3"], entry: "hev1"),
        Case(
            target: "out.mp4", options: ["--video-codec", "av1", "-o", "preset=12"], other: ["--quality", "20"],
            entry: "av01"),
    ]

    @Test(
        "of a finished segment with other settings changes its pictures only, plays throughout, and can be taken back",
        arguments: cases)
    func otherSettings(_ example: Case) throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 6) else { return }
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(source, example.target, Self.cut + example.options)
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        let first = try #require(place.bytes(example.target))
        let before = try place.pictures(example.target)
        let kept = [0, 2].map { FileManager.default.contents(atPath: place.spooled(id, $0)) }

        let retried = try place.weft(["retry", id, "--segment", "1", "--wait", "--json"] + example.other)
        #expect(retried.code == 0, "\(retried.errors)")
        let after = try place.pictures(example.target)
        #expect(after.count == before.count)
        #expect(Array(after[..<50]) == Array(before[..<50]))
        #expect(Array(after[100...]) == Array(before[100...]))
        #expect(zip(before[50..<100], after[50..<100]).allSatisfy { $0 != $1 })
        #expect([0, 2].map { FileManager.default.contents(atPath: place.spooled(id, $0)) } == kept)
        if let entry = example.entry { #expect(try place.sampleEntry(example.target) == entry) }
        #expect(try place.acceptances(id) == [1, 2, 1])
        #expect((retried.json["warnings"] as? [String] ?? []).contains { $0.contains("other settings: 1") })

        #expect(try place.weft("retry", id, "--segment", "1", "--wait").code == 0)
        #expect(place.bytes(example.target) == first)
    }

    @Test("that cannot be in one track with the rest is refused, and the job stays done with its file")
    func unfit() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 4) else { return }
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", Self.cut + ["-o", "preset=ultrafast"])
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        let first = place.bytes("out.mp4")
        for other in [
            ["--filter", "scale=128:72"], ["--filter", "format=yuv422p"], ["--encoder", "libx265"],
            ["-o", "preset=nosuch"],
        ] {
            let refused = try place.weft(["retry", id, "--segment", "1"] + other)
            #expect(refused.code == 64, "\(other): \(refused.errors)")
        }
        #expect(try place.weft("retry", id, "--segment", "1", "--on-node", "nobody").code == 75)
        #expect(try place.job(id)["state"] as? String == "done")
        #expect(place.bytes("out.mp4") == first)
        #expect(try place.acceptances(id) == [1, 1])
    }

    @Test("that fails leaves the finished file as it was and says so; without the setting it is done again")
    func failedRerun() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 4) else { return }
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", Self.cut + ["-o", "preset=ultrafast"])
        try place.awaitEnd(id)
        let first = try #require(place.bytes("out.mp4"))
        let poison = "scale=eval=frame:w='if(between(t,2.5,3),1e9,iw)':h=ih"
        let failed = try place.weft("retry", id, "--segment", "1", "--filter", poison, "--wait", "--json")
        #expect(failed.code == 1, "\(failed.errors)")
        let advice = (failed.json["failure"] as? [String: Any])?["advice"] as? String
        #expect(advice?.contains("still the file of before") == true, "\(advice ?? "")")
        #expect(place.bytes("out.mp4") == first)
        #expect(try place.weft("retry", id, "--segment", "1", "--wait").code == 0)
        #expect(place.bytes("out.mp4") == first)
    }

    @Test("of a job at work is for its failed segments alone; any other is refused for the time being")
    func whileRunning() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 40) else { return }
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        // The first segment cannot be made.
        let poison = "scale=eval=frame:w='if(between(t,0.5,1),1e9,iw)':h=ih"
        let options = Self.cut + ["-o", "preset=ultrafast", "--filter"]
        let id = try place.submit(source, "out.mp4", options + [poison])
        try place.awaits("a segment fails for good") { try place.job(id)["segments_failed"] as? Int == 1 }
        try #require(try place.weft("pause", id).code == 0)
        let refused = try place.weft("retry", id, "--segment", "19")
        #expect(refused.code == 75, "\(refused.errors)")
        #expect(refused.errors.contains("only segments that failed"))
        let taken = try place.weft("retry", id, "--filter", "null")
        #expect(taken.code == 0, "\(taken.errors)")
        #expect(try place.job(id)["segments_failed"] as? Int == 0)
        try #require(try place.weft("resume", id).code == 0)
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        #expect(try place.acceptances(id) == [Int](repeating: 1, count: 20))
        #expect(try place.pictures("out.mp4").count == 1000)
    }

    @Test("of a spool file that was lost, cut or altered happens by itself, when the job has come to its stitch")
    func damagedSpool() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 12) else { return }
        let quick = Self.cut + ["-o", "preset=ultrafast"]
        let reference = try place.reference(source, quick)
        try place.startCoordinator()
        let worker = try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", quick)
        try place.awaitEnd(id)
        // Nobody is there to do the first segment, so the stitch waits with files that it has not opened.
        kill(worker.processIdentifier, SIGKILL)
        worker.waitUntilExit()
        try #require(try place.weft("retry", id, "--segment", "0").code == 0)
        try place.awaits("the job runs") { try place.job(id)["state"] as? String == "running" }
        unlink(place.spooled(id, 1))
        truncate(place.spooled(id, 3), 1000)
        let handle = try #require(FileHandle(forUpdatingAtPath: place.spooled(id, 4)))
        try handle.seek(toOffset: 2000)
        try handle.write(contentsOf: Data([0xAA, 0x55, 0xAA]))
        try handle.close()
        try place.startWorker("b")
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        #expect(try place.events(id).count { $0 == "spool_damaged" } == 3)
        #expect(try place.acceptances(id) == [2, 2, 1, 2, 2, 1])
        #expect(place.bytes("out.mp4") == reference)
    }
}
