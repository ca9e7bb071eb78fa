import Foundation
import Testing

/// Real coordinators, workers and clients. One at a time: each keeps the machine busy.
@Suite("A cluster", .serialized)
struct ClusterExportTests {
    private static let movie = "firefox-esr--movie_300.mp4"

    @Test("Two nodes give the bytes that one machine gives, and the report says who did what")
    func twoNodes() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        let reference = try place.reference(source, Workplace.quick)
        try place.startCoordinator()
        try place.startWorker("a")
        try place.startWorker("b")
        try place.awaitWorkers(2)
        let outcome = try place.weft(
            ["submit", source, place.file("out.mp4"), "--wait", "--json"] + Workplace.quick)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(place.bytes("out.mp4") == reference)
        let report = outcome.json
        #expect(report["state"] as? String == "done")
        #expect((report["proof"] as? [String: Any])?["pass"] as? Bool == true)
        #expect(report["slots"] as? Int == 2)
        let id = try #require(report["job"] as? String)
        let segments = try place.segments(id)
        #expect(segments.count == report["segments"] as? Int)
        #expect(segments.allSatisfy { $0["state"] as? String == "done" })
        let workers = try place.weft("workers", "--json").json["workers"] as? [[String: Any]] ?? []
        #expect(workers.compactMap { $0["frames"] as? Int }.allSatisfy { $0 > 0 })
    }

    @Test("A node that is killed in the middle costs nothing but time")
    func killedNode() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        try place.startCoordinator()
        try place.startWorker("a")
        let victim = try place.startWorker("b")
        try place.awaitWorkers(2)
        let id = try place.submit(source, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 2)
        kill(victim.processIdentifier, SIGKILL)
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        #expect(place.bytes("out.mp4") == (try place.reference(source, Workplace.slow)))
    }

    @Test(
        "A coordinator that is killed goes on where it was: nothing accepted is encoded again, slots keep their leases")
    func killedCoordinator() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        let coordinator = try place.startCoordinator()
        try place.startWorker("a")
        try place.startWorker("b")
        try place.awaitWorkers(2)
        let id = try place.submit(source, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 2)
        kill(coordinator.processIdentifier, SIGKILL)
        coordinator.waitUntilExit()
        try place.startCoordinator(listen: place.address)
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        for segment in try place.segments(id) {
            let attempts = segment["attempts"] as? [[String: Any]] ?? []
            #expect(attempts.filter { $0["state"] as? String == "accepted" }.count == 1)
        }
        #expect(try place.events(id).contains("reattached"))
        #expect(place.bytes("out.mp4") == (try place.reference(source, Workplace.slow)))
    }

    @Test("A finished segment whose file was altered while the coordinator was away is redone, and only that one")
    func alteredSpool() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        let coordinator = try place.startCoordinator()
        let worker = try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 3)
        for process in [worker, coordinator] {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let spool = place.file("state/coordinator/jobs/\(id)/spool/segment-1.spool")
        let handle = try #require(FileHandle(forUpdatingAtPath: spool))
        try handle.seek(toOffset: 100)
        try handle.write(contentsOf: Data([0xAA, 0x55, 0xAA]))
        try handle.close()
        try place.startCoordinator(listen: place.address)
        try place.startWorker("b")
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        let redone = try place.segments(id).filter { segment in
            let attempts = segment["attempts"] as? [[String: Any]] ?? []
            return attempts.filter { $0["state"] as? String == "accepted" }.count > 1
        }
        #expect(redone.compactMap { $0["index"] as? Int } == [1])
        #expect(place.bytes("out.mp4") == (try place.reference(source, Workplace.slow)))
    }

    @Test("A segment that no node can do fails the job with the others kept; a repaired setting completes it")
    func poisonedSegment() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        let reference = try place.reference(source, Workplace.quick)
        try place.startCoordinator()
        try place.startWorker("a")
        try place.startWorker("b")
        try place.awaitWorkers(2)
        let poison = ["--filter", "scale=eval=frame:w='if(between(t,22,24),1e9,iw)':h=ih"]
        let outcome = try place.weft(
            ["submit", source, place.file("out.mp4"), "--wait", "--json"] + Workplace.quick + poison)
        #expect(outcome.code == 1)
        #expect(place.bytes("out.mp4") == nil)
        let id = try #require(outcome.json["job"] as? String)
        let before = try place.segments(id)
        let failed = before.filter { $0["state"] as? String == "failed" }
        #expect(failed.compactMap { $0["index"] as? Int } == [2])
        let attempt = (failed.first?["attempts"] as? [[String: Any]])?.first
        #expect((attempt?["failure"] as? [String: Any])?["boundary"] as? String == "filter")
        let retried = try place.weft("retry", id, "--filter", "null", "--wait", "--json")
        #expect(retried.code == 0, "\(retried.errors)")
        for (old, new) in zip(before, try place.segments(id)) where old["state"] as? String == "done" {
            #expect((old["attempts"] as? [Any])?.count == (new["attempts"] as? [Any])?.count)
        }
        #expect(place.bytes("out.mp4") == reference)
    }

    @Test("A finished segment can be rerun alone, on a node of choice, and the output is the same again")
    func rerunOnNode() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        try place.startCoordinator()
        try place.startWorker("a")
        try place.startWorker("b")
        try place.awaitWorkers(2)
        let id = try place.submit(source, "out.mp4", Workplace.quick)
        try place.awaitEnd(id)
        let first = try #require(place.bytes("out.mp4"))
        let retried = try place.weft("retry", id, "--segment", "3", "--on-node", "b", "--wait")
        #expect(retried.code == 0, "\(retried.errors)")
        #expect(place.bytes("out.mp4") == first)
        let attempts = try place.segments(id)[3]["attempts"] as? [[String: Any]] ?? []
        #expect(attempts.count == 2)
        #expect(attempts.last?["node"] as? String == "b")
    }

    @Test("A job can be paused, resumed and cancelled; cancelling leaves nothing under the final name")
    func control() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 1)
        #expect(try place.weft("pause", id).code == 0)
        #expect(try place.job(id)["state"] as? String == "paused")
        #expect(try place.weft("resume", id).code == 0)
        #expect(try place.job(id)["state"] as? String == "running")
        #expect(try place.weft("cancel", id).code == 0)
        #expect(try place.awaitEnd(id)["state"] as? String == "cancelled")
        #expect(place.bytes("out.mp4") == nil)
        #expect(try place.weft("cancel", id).code == 64)
        let rest = try FileManager.default.contentsOfDirectory(atPath: place.path)
        #expect(!rest.contains { $0.hasSuffix(".part") })
    }

    @Test("A drained node finishes its lease and its worker ends by itself")
    func drain() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        let place = try Workplace()
        try place.startCoordinator()
        let worker = try place.startWorker("a")
        try place.startWorker("b")
        try place.awaitWorkers(2)
        let id = try place.submit(source, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 1)
        #expect(try place.weft("drain", "a").code == 0)
        try place.awaits("the worker ends") { !worker.isRunning }
        #expect(worker.terminationStatus == 0)
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        let states = try place.segments(id).flatMap { $0["attempts"] as? [[String: Any]] ?? [] }
            .compactMap { $0["state"] as? String }
        #expect(states.allSatisfy { $0 == "accepted" || $0 == "superseded" })
    }
}
