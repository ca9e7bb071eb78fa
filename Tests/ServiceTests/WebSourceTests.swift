import Foundation
import Testing

/// Sources behind http, from a real server that gives ranges.
@Suite("Sources on the web", .serialized)
struct WebSourceTests {
    private static let movie = "firefox-esr--movie_300.mp4"

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

    @Test("A file that is swapped behind its URL stops the job, which says so")
    func swapped() throws {
        guard let site = try Site() else { return }
        let place = site.place
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(site.url, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 1)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: site.media))
        try bytes.dropLast(70_000).write(to: URL(fileURLWithPath: site.server.file("film.mp4")), options: .atomic)
        let report = try place.awaitEnd(id)
        try ChangedSourceTests.expectChange(report, place)
    }

    @Test("A server that goes away and comes back costs nothing but time")
    func restarted() throws {
        guard let site = try Site() else { return }
        let place = site.place
        let reference = try place.reference(site.media, Workplace.slow)
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(site.url, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 1)
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
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(site.url, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 1)
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
        let reference = try place.reference(site.media, Workplace.slow)
        let words = ["export", site.url, place.file("out.mp4"), "--workers", "1", "--quiet"] + Workplace.slow
        try place.interrupt(words) { place.spooledSegments >= 3 }
        let outcome = try place.weft(words + ["--resume", "--json"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(place.bytes("out.mp4") == reference)
        #expect(outcome.json["attempts"] as? Int ?? 99 < outcome.json["segments"] as? Int ?? 0)
    }
}
