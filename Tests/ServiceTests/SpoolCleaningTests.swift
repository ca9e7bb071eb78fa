import Foundation
import JobStore
import Scheduling
import Testing

@Suite("A spool that is cleaned", .serialized)
struct SpoolCleaningTests {
    private static let options = ["--segment-duration", "2", "-o", "preset=ultrafast"]

    private func jobs(_ place: Workplace) throws -> [String: [String: Any]] {
        let rows = try place.weft("jobs", "--json").json["jobs"] as? [[String: Any]] ?? []
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["job"] as? String ?? "", $0) })
    }

    private func holds(_ place: Workplace, _ id: String) throws -> Int {
        try jobs(place)[id]?["spool_bytes"] as? Int ?? -1
    }

    @Test("leaves its segments done, and what needs their bytes is refused with a way out or encodes all of them again")
    func cleaned() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 6) else { return }
        let coordinator = try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", Self.options)
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        #expect(try place.weft("retry", id, "--segment", "1", "--quality", "12", "--wait").code == 0)
        let first = try #require(place.bytes("out.mp4"))
        #expect(try holds(place, id) > 0)
        // A rerun is refused where its options would be for nothing.
        let idle = try place.weft("retry", id, "--quality", "20")
        #expect(idle.code == 64 && idle.errors.contains("--segment"), "\(idle.errors)")

        kill(coordinator.processIdentifier, SIGTERM)
        coordinator.waitUntilExit()
        try place.startCoordinator(listen: place.address, "--spool-keep", "0")
        try place.awaits("the spool is cleaned") { try holds(place, id) == 0 }
        #expect(try jobs(place)[id]?["spool_cleaned"] as? Bool == true)
        try place.awaits("the files are gone") {
            try FileManager.default.contentsOfDirectory(atPath: place.file("state/coordinator/jobs")).isEmpty
        }
        let rows = try place.segments(id)
        #expect(rows.map { $0["state"] as? String } == ["done", "done", "done"])
        #expect(rows.map { $0["frames"] as? Int } == [50, 50, 50])
        #expect(rows.allSatisfy { $0["cleaned"] as? Bool == true })
        #expect(try place.events(id).contains("spool_cleaned"))
        let lost = try place.weft("segments", id, "--extract", "1", place.file("part.mp4"))
        #expect(lost.code == 66 && lost.errors.contains("weft retry \(id)"), "\(lost.errors)")
        let refused = try place.weft("retry", id, "--segment", "1")
        #expect(refused.code == 64 && refused.errors.contains("encodes all 3 segments again"), "\(refused.errors)")
        #expect(try place.job(id)["state"] as? String == "done")

        try place.awaitWorkers(1)
        let again = try place.weft("retry", id, "--wait", "--json")
        #expect(again.code == 0, "\(again.errors)")
        #expect(again.errors.contains("all 3 segments are encoded again"), "\(again.errors)")
        // Also the segment that had other settings has them again.
        #expect(place.bytes("out.mp4") == first)
        #expect(try place.acceptances(id) == [2, 3, 2])
    }

    @Test("by an earlier version, or by one that was killed in the middle of it, is taken for what it is")
    func earlier() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 4) else { return }
        let coordinator = try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let ids = try ["old.mp4", "cut.mp4"].map { target in
            let id = try place.submit(source, target, Self.options)
            #expect(try place.awaitEnd(id)["state"] as? String == "done")
            return id
        }
        kill(coordinator.processIdentifier, SIGKILL)
        coordinator.waitUntilExit()
        func folder(_ id: String) -> String { place.file("state/coordinator/jobs/\(id)") }
        do {
            let store = try JobStore(at: place.file("state/coordinator/jobs.db"))
            // Schema 2 had no other way to clean than to make the segments pending.
            try store.reopenSegments([0, 1], of: JobID(ids[0]))
            try FileManager.default.removeItem(atPath: folder(ids[0]))
            // Killed between the rows and the files.
            try store.cleanSegments(of: JobID(ids[1]))
        }
        try place.startCoordinator(listen: place.address)
        try place.awaits("what was left is removed") { !FileManager.default.fileExists(atPath: folder(ids[1])) }
        for id in ids {
            let rows = try place.segments(id)
            #expect(rows.map { $0["state"] as? String } == ["done", "done"])
            #expect(rows.allSatisfy { $0["cleaned"] as? Bool == true })
            #expect(try place.weft("segments", id, "--extract", "0", place.file("part.mp4")).code == 66)
            #expect(try place.weft("retry", id, "--segment", "0").code == 64)
        }
        try place.awaitWorkers(1)
        let first = place.bytes("old.mp4")
        #expect(try place.weft("retry", ids[0], "--wait").code == 0)
        #expect(place.bytes("old.mp4") == first)
    }

    @Test("goes for the size of all of them: the oldest done job's first, a failed job's not at all")
    func limit() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: 4) else { return }
        let coordinator = try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let poison = "scale=eval=frame:w='if(between(t,2.5,3),1e9,iw)':h=ih"
        let failed = try place.submit(source, "failed.mp4", Self.options + ["--filter", poison])
        #expect(try place.awaitEnd(failed)["state"] as? String == "failed")
        let old = try place.submit(source, "old.mp4", Self.options)
        try place.awaitEnd(old)
        let new = try place.submit(source, "new.mp4", Self.options)
        try place.awaitEnd(new)
        let sizes = try [failed, old, new].map { try holds(place, $0) }
        #expect(sizes.allSatisfy { $0 > 0 }, "\(sizes)")
        #expect(try place.weft("jobs").output.contains("The spools of 3 jobs hold"))

        kill(coordinator.processIdentifier, SIGTERM)
        coordinator.waitUntilExit()
        let limit = "\(sizes[0] + sizes[2] + 1)"
        let second = try place.startCoordinator(listen: place.address, "--spool-limit", limit)
        try place.awaits("the older one is cleaned") { try holds(place, old) == 0 }
        #expect(try [failed, new].map { try holds(place, $0) } == [sizes[0], sizes[2]])

        kill(second.processIdentifier, SIGTERM)
        second.waitUntilExit()
        try place.startCoordinator(listen: place.address, "--spool-limit", "1B")
        try place.awaits("the newer one is cleaned") { try holds(place, new) == 0 }
        #expect(try holds(place, failed) == sizes[0])
        try place.awaits("somebody is told") {
            try place.weft("events").output.contains("spool_above_limit")
        }
        // And it can still be mended.
        try place.awaitWorkers(1)
        #expect(try place.weft("retry", failed, "--filter", "null", "--wait").code == 0)
        #expect(try place.acceptances(failed) == [1, 1])
    }
}
