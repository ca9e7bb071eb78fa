import Foundation
import Testing

/// Sources behind http, from a real server that gives ranges.
@Suite("Sources on the web", .serialized)
struct WebSourceTests {
    private static let movie = "firefox-esr--movie_300.mp4"

    /// For what runs to its end all the same.
    private static let slow = ["-o", "preset=slow", "--segment-duration", "2", "--end", "60"]
    /// What one machine makes of the file with these.
    private static let slowly = Result { () throws -> Data in
        let media = try #require(Workplace.media(movie))
        return try Workplace().reference(media, slow)
    }

    private struct Site {
        let place: Workplace
        let server: WebServer
        let media: String
        var url: String { server.url("film.mp4") }

        /// `nil` where the media or nginx are not there.
        init?() throws {
            guard let media = Workplace.media(WebSourceTests.movie) else { return nil }
            place = try Workplace()
            guard let server = try WebServer(place) else { return nil }
            self.server = server
            self.media = media
            try FileManager.default.copyItem(atPath: media, toPath: server.file("film.mp4"))
        }

        /// A job on one worker, in the middle of its work.
        func job(_ settings: [String]) throws -> String {
            try place.startCoordinator()
            try place.startWorker("a")
            try place.awaitWorkers(1)
            let id = try place.submit(url, "out.mp4", settings)
            try place.awaitSegments(id, atLeast: 1)
            return id
        }

        /// Shorter, under the same name.
        func swap() throws {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: media))
            try bytes.dropLast(70_000).write(to: URL(fileURLWithPath: server.file("film.mp4")), options: .atomic)
        }
    }

    @Test("Workers read a URL themselves, and the bytes are those of the file")
    func cluster() throws {
        guard let site = try Site() else { return }
        let place = site.place
        let reference = try place.reference(site.media, Workplace.quick)
        #expect(try place.reference(site.url, Workplace.quick) == reference)
        try place.startCoordinator()
        try place.startWorker("a")
        try place.startWorker("b")
        try place.awaitWorkers(2)
        let outcome = try place.weft(["submit", site.url, place.file("out.mp4"), "--wait", "--json"] + Workplace.quick)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(place.bytes("out.mp4") == reference)
        let access = outcome.json["source_access"] as? [String: String] ?? [:]
        #expect(Set(access.values) == ["direct"])
    }

    @Test("A node that does not get to the server is sent the source, and is not made to try with each lease")
    func unreached() throws {
        guard let site = try Site() else { return }
        let place = site.place
        let reference = try place.reference(site.media, Workplace.quick)
        try place.startCoordinator()
        // Where nobody listens.
        try place.startWorker("far", prefix: ["/usr/bin/env", "http_proxy=http://127.0.0.1:9", "no_proxy="])
        try place.awaitWorkers(1)
        let outcome = try place.weft(["submit", site.url, place.file("out.mp4"), "--wait", "--json"] + Workplace.quick)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(place.bytes("out.mp4") == reference)
        #expect(outcome.json["source_access"] as? [String: String] == ["far": "streamed"])
        // Trying costs seconds, but no attempt.
        #expect(outcome.json["attempts"] as? Int == outcome.json["segments"] as? Int)
    }

    @Test("A file that is swapped behind its URL stops the job, which says so")
    func swapped() throws {
        guard let site = try Site() else { return }
        let place = site.place
        let id = try site.job(Workplace.slow)
        try site.swap()
        let report = try place.awaitEnd(id)
        try ChangedSourceTests.expectChange(report, place)
    }

    @Test("Ranges travel, not the whole source for each segment")
    func ranges() throws {
        let place = try Workplace()
        guard let server = try WebServer(place), let clip = try place.heavyClip(seconds: 40) else { return }
        try FileManager.default.moveItem(atPath: clip, toPath: server.file("film.mp4"))
        let size = try Data(contentsOf: URL(fileURLWithPath: server.file("film.mp4"))).count
        let options = ["--workers", "2", "-o", "preset=ultrafast", "--segment-duration", "2", "--json"]
        let outcome = try place.weft(["export", server.url("film.mp4"), place.file("out.mp4")] + options)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let segments = try #require(outcome.json["segments"] as? Int)
        #expect(segments >= 15)
        let requests = try server.requests()
        #expect(requests.allSatisfy { $0.status == 206 && $0.range.hasPrefix("bytes=") }, "\(requests)")
        let bytes = requests.reduce(0) { $0 + $1.bytes }
        print("\(requests.count) requests, \(bytes) bytes of a source of \(size) in \(segments) segments")
        // Once for the segments, once for the sound and once for the proof, and what is on the way when a connection is closed.
        #expect(bytes < 6 * size, "\(requests.count) requests, \(bytes) bytes of a source of \(size)")
    }

    @Test("A server that gives no ranges is told apart from a source that cannot be read")
    func whole() throws {
        guard let site = try Site() else { return }
        let url = site.server.url("whole/film.mp4")
        let outcome = try site.place.weft("export", url, site.place.file("out.mp4"), "--quiet")
        #expect(outcome.code == 65)
        #expect(outcome.errors.contains(url) && outcome.errors.contains("gives no ranges"), "\(outcome.errors)")
        #expect(outcome.errors.contains("to do  Let the server give ranges"), "\(outcome.errors)")
        #expect(site.place.bytes("out.mp4") == nil)
    }

    @Test("A file that is swapped behind its URL stops an export on one machine")
    func swappedExport() throws {
        guard let site = try Site() else { return }
        let place = site.place
        let words = ["export", site.url, place.file("out.mp4"), "--workers", "1", "--quiet"] + Workplace.slow
        let outcome = try place.weft(
            words,
            meanwhile: {
                try place.awaits("a segment") { place.spooledSegments > 0 }
                try site.swap()
            })
        #expect(outcome.code == 65, "\(outcome.errors)")
        #expect(outcome.errors.contains("changed while"), "\(outcome.errors)")
        #expect(place.bytes("out.mp4") == nil)
    }

    @Test("A server that stalls for a while costs nothing but time")
    func stalled() throws {
        guard let site = try Site() else { return }
        let place = site.place
        let reference = try Self.slowly.get()
        let id = try site.job(Self.slow)
        site.server.pause()
        Thread.sleep(forTimeInterval: 4)
        site.server.pause(false)
        let report = try place.awaitEnd(id)
        #expect(report["state"] as? String == "done", "\(report)")
        #expect(place.bytes("out.mp4") == reference)
    }

    @Test("A server that goes away and comes back costs nothing but time")
    func restarted() throws {
        guard let site = try Site() else { return }
        let place = site.place
        let reference = try Self.slowly.get()
        let id = try site.job(Self.slow)
        site.server.stop()
        usleep(500_000)
        try site.server.start()
        let report = try place.awaitEnd(id)
        #expect(report["state"] as? String == "done", "\(report)")
        #expect(place.bytes("out.mp4") == reference)
    }

    @Test("A server that goes away for good ends the job with a failure that names it, and leaves no file")
    func gone() throws {
        guard let site = try Site() else { return }
        let place = site.place
        let id = try site.job(Workplace.slow)
        site.server.stop()
        let report = try place.awaitEnd(id)
        #expect(report["state"] as? String == "failed")
        let failure = try #require(report["failure"] as? [String: Any])
        #expect((failure["message"] as? String)?.contains(site.url) == true, "\(failure)")
        #expect(place.bytes("out.mp4") == nil)
    }

    @Test(
        "What a server refuses is one readable block and the exit code of its kind",
        arguments: [("missing.mp4", 66), ("forbidden/film.mp4", 77), ("broken/film.mp4", 75)] as [(String, Int32)])
    func refused(name: String, code: Int32) throws {
        guard let site = try Site() else { return }
        let outcome = try site.place.weft("export", site.server.url(name), site.place.file("out.mp4"), "--quiet")
        #expect(outcome.code == code)
        #expect(outcome.errors.contains(site.server.url(name)) && outcome.errors.contains("to do"), "\(outcome.errors)")
        #expect(site.place.bytes("out.mp4") == nil)
    }

    @Test("An export of a URL goes on with --resume, as the bytes are known to be the same")
    func resumed() throws {
        guard let site = try Site() else { return }
        let place = site.place
        let reference = try Self.slowly.get()
        let words = ["export", site.url, place.file("out.mp4"), "--workers", "1", "--quiet"] + Self.slow
        try place.interrupt(words) { place.spooledSegments >= 3 }
        let outcome = try place.weft(words + ["--resume", "--json"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(place.bytes("out.mp4") == reference)
        #expect(outcome.json["attempts"] as? Int ?? 99 < outcome.json["segments"] as? Int ?? 0)
    }
}
