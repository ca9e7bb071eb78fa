import Foundation
import Testing

@Suite("A finished segment as a file of its own", .serialized)
struct ExtractTests {
    private static let options = ["--segment-duration", "2", "-o", "preset=ultrafast", "-o", "bf=2"]

    /// What ffprobe says of the picture: time, decode time and flags of each packet, and how many pictures come out.
    private func packets(_ place: Workplace, _ name: String) throws -> [[String]] {
        let words = ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags"]
        let made = try #require(try place.tool(words + ["-of", "csv=p=0", place.file(name)]))
        #expect(made.code == 0 && made.errors.isEmpty, "\(made.errors)")
        return made.output.split(separator: "\n").map { $0.split(separator: ",").map(String.init) }
    }

    @Test(
        "has exactly the segment's pictures, begins at 0 with a key picture, and decodes, in every container that holds it"
    )
    func extracted() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 6) else { return }
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", Self.options)
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        let all = try place.pictures("out.mp4")
        for name in ["part.mp4", "part.mov", "part.mkv", "part.ts"] {
            let made = try place.weft("segments", id, "--extract", "1", place.file(name), "--json")
            #expect(made.code == 0, "\(made.errors)")
            #expect(made.json["frames"] as? Int == 50)
            #expect(try place.pictures(name) == Array(all[50..<100]), "\(name)")
            let packets = try packets(place, name)
            #expect(packets.count == 50)
            #expect(packets.first?.last?.hasPrefix("K") == true, "\(name)")
            #expect(packets.filter { $0.last?.hasPrefix("K") == true }.count == 1)
            // A transport stream holds no decode time below zero.
            if name != "part.ts" { #expect(packets.first?.first.flatMap(Double.init) == 0, "\(name)") }
        }
        let rest = try FileManager.default.contentsOfDirectory(atPath: place.path)
        #expect(!rest.contains { $0.contains(".part") && $0.hasPrefix(".") }, "\(rest)")
    }

    @Test("is refused in one block, with nothing written, where it cannot be had")
    func refusals() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 20) else { return }
        try place.startCoordinator()
        let id = try place.submit(source, "out.mp4", Self.options)
        try place.awaits("the job is planned") { try place.segments(id).count == 10 }
        func expect(_ code: Int32, _ words: String..., saying: String) throws {
            let outcome = try place.weft(["segments", id] + words)
            #expect(outcome.code == code, "\(words): \(outcome.errors)")
            #expect(outcome.errors.contains(saying), "\(outcome.errors)")
        }
        let target = place.file("part.mp4")
        try expect(75, "--extract", "1", target, saying: "is not done yet")
        try expect(64, "--extract", "10", target, saying: "its last is 9")
        try expect(64, "--extract", "x", target, saying: "not the number of a segment")
        try expect(64, "--extract", "1", saying: "needs the name of a file")
        try expect(64, target, saying: "only with --extract")
        #expect(try place.weft("segments", "nosuch", "--extract", "1", target).code == 64)
        #expect(place.bytes("part.mp4") == nil)

        try place.startWorker("a")
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        try expect(64, "--extract", "1", place.file("part.nosuch"), saying: "container")
        try expect(64, "--extract", "1", place.file("part.webm"), saying: "cannot hold h264")
        #expect(FileManager.default.createFile(atPath: target, contents: Data([1])))
        try expect(73, "--extract", "1", target, saying: "--overwrite")
        #expect(place.bytes("part.mp4") == Data([1]))
        try expect(0, "--extract", "1", target, "--overwrite", saying: "50 frames")
        #expect(try packets(place, "part.mp4").count == 50)
        // What the disk has altered or lost is noticed, and the way out is named.
        let handle = try #require(FileHandle(forUpdatingAtPath: place.spooled(id, 2)))
        try handle.seek(toOffset: 2000)
        try handle.write(contentsOf: Data([0xAA, 0x55, 0xAA]))
        try handle.close()
        try expect(74, "--extract", "2", place.file("two.mp4"), saying: "--segment 2")
        unlink(place.spooled(id, 3))
        try expect(74, "--extract", "3", place.file("three.mp4"), saying: "--segment 3")
        #expect(place.bytes("two.mp4") == nil && place.bytes("three.mp4") == nil)
    }
}
