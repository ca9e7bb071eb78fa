import Foundation
import Testing

@Suite("Who may do what", .serialized)
struct ServiceSecurityTests {
    private static let movie = "firefox-esr--movie_300.mp4"

    @Test("A coordinator does not bind in the clear where other machines can connect")
    func clearBind() throws {
        let place = try Workplace()
        let refused = try place.weft("coordinator", "--listen", "tcp://0.0.0.0:0", "--state", place.file("state"))
        #expect(refused.code == 78)
        #expect(refused.errors.contains("--insecure"))
    }

    @Test("Nobody answers: exit code 69")
    func unreachable() throws {
        let place = try Workplace()
        #expect(try place.weft("jobs", "--coordinator", "tcp://127.0.0.1:9").code == 69)
    }

    @Test("Keys are of mode 0600, an unknown key gets nothing, and each role does what it may")
    func roles() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        func key(_ role: String, state: String = "state") throws -> String {
            let path = place.file("\(state)-\(role).key")
            let made = try place.weft(
                "keys", "new", "--role", role, "--name", role, "--out", path, "--state", place.file(state))
            try #require(made.code == 0, "\(made.errors)")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            return path
        }
        let (worker, client, observer) = (try key("worker"), try key("client"), try key("observer"))
        try place.startCoordinator("--require-keys")
        #expect(try place.weft("jobs").code == 77)
        #expect(try place.weft("jobs", "--key", observer).code == 0)
        #expect(try place.weft("jobs", "--key", worker).code == 77)
        let job = ["submit", source, place.file("out.mp4")] + Workplace.quick
        #expect(try place.weft(job + ["--key", worker]).code == 77)
        #expect(try place.weft(job + ["--key", observer]).code == 77)
        try place.startWorker("a", key: worker)
        try place.awaitWorkers(1, key: client)
        let done = try place.weft(job + ["--key", client, "--wait", "--json"])
        #expect(done.code == 0, "\(done.errors)")
        // Accounts are for observers, the film is not.
        let extract = ["segments", try #require(done.json["job"] as? String), "--extract", "1"]
        #expect(try place.weft(extract + [place.file("seen.mp4"), "--key", observer]).code == 77)
        #expect(place.bytes("seen.mp4") == nil)
        #expect(try place.weft(extract + [place.file("part.mp4"), "--key", client]).code == 0)
        // A key with the right server, that nobody allowed.
        let stranger = try key("client", state: "other")
        var text =
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: stranger))) as? [String: Any]
        let known =
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: client))) as? [String: Any]
        text?["server"] = known?["server"]
        try JSONSerialization.data(withJSONObject: try #require(text)).write(to: URL(fileURLWithPath: stranger))
        #expect(try place.weft("jobs", "--key", stranger).code == 77)
        // A client cannot work.
        let wrong = try place.startWorker("b", key: client)
        wrong.waitUntilExit()
        #expect(wrong.terminationStatus == 77)
        // A key that is taken back is worth nothing from then on.
        #expect(try place.weft("keys", "revoke", "client", "--state", place.file("state")).code == 0)
        #expect(try place.weft("jobs", "--key", client).code == 77)
    }

    @Test("Sources and targets outside the roots are refused, also through symbolic links")
    func roots() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        try FileManager.default.createDirectory(atPath: place.file("in"), withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: source, toPath: place.file("in/film.mp4"))
        try FileManager.default.createSymbolicLink(
            atPath: place.file("in/link.mp4"), withDestinationPath: source)
        try FileManager.default.createSymbolicLink(
            atPath: place.file("in/out"), withDestinationPath: place.path)
        try place.startCoordinator(listen: "tcp://127.0.0.1:0", "--root", place.file("in"))
        func code(_ from: String, _ to: String) throws -> Int32 {
            try place.weft("submit", from, to, "--quality", "30").code
        }
        #expect(try code(source, place.file("in/a.mp4")) == 77)
        #expect(try code(place.file("in/link.mp4"), place.file("in/a.mp4")) == 77)
        #expect(try code(place.file("in/film.mp4"), place.file("a.mp4")) == 77)
        #expect(try code(place.file("in/film.mp4"), place.file("in/out/a.mp4")) == 77)
        #expect(try code("http://127.0.0.1:9/film.mp4", place.file("in/a.mp4")) == 77)
        #expect(try code(place.file("in/film.mp4"), place.file("in/a.mp4")) == 0)
    }

    @Test("A source that a node cannot see bars the node, not the job's segments; without any other the job says so")
    func unseenSource() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        let film = place.file("film.mp4")
        try FileManager.default.copyItem(atPath: source, toPath: film)
        try place.startCoordinator()
        let id = try place.submit(film, "out.mp4", Workplace.quick)
        try place.awaits("the job is planned") { try place.job(id)["state"] as? String == "running" }
        try FileManager.default.removeItem(atPath: film)
        try place.startWorker("a")
        let report = try place.awaitEnd(id)
        #expect(report["state"] as? String == "failed")
        let failure = report["failure"] as? [String: Any]
        #expect(failure?["boundary"] as? String == "asset")
    }
}
