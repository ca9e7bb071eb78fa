import Foundation
import Testing

/// A source that does not stay what it was while a job reads it.
@Suite("A source that changes", .serialized)
struct ChangedSourceTests {
    enum Change: String, CaseIterable, CustomTestStringConvertible {
        case replaced, truncated, grown, touched, removed
        var testDescription: String { rawValue }

        func make(_ path: String) throws {
            let handle = try #require(FileHandle(forUpdatingAtPath: path))
            defer { try? handle.close() }
            switch self {
            case .replaced:
                // Between the blocks that the fingerprint samples.
                try handle.seek(toOffset: 200_000)
                try handle.write(contentsOf: Data(repeating: 0x5A, count: 1000))
            case .truncated: try handle.truncate(atOffset: try handle.seekToEnd() / 2)
            case .grown:
                try handle.seekToEnd()
                try handle.write(contentsOf: Data(repeating: 0, count: 5000))
            case .touched: utimes(path, nil)
            case .removed: unlink(path)
            }
        }
    }

    static func expectChange(_ report: [String: Any], _ place: Workplace, removed: Bool = false) throws {
        #expect(report["state"] as? String == "failed", "\(report)")
        let failure = try #require(report["failure"] as? [String: Any])
        #expect(failure["boundary"] as? String == "asset", "\(failure)")
        #expect(failure["fault"] as? String == "source")
        #expect((failure["message"] as? String)?.contains(removed ? "No such file" : "changed") == true, "\(failure)")
        #expect(failure["exit_code"] as? Int == (removed ? 66 : 65))
        #expect(place.bytes("out.mp4") == nil)
    }

    @Test("A source that changes under a running job stops it with a failure that says so", arguments: Change.allCases)
    func job(change: Change) throws {
        guard let media = Workplace.media("firefox-esr--movie_300.mp4") else { return }
        let place = try Workplace()
        let source = place.file("film.mp4")
        try FileManager.default.copyItem(atPath: media, toPath: source)
        try place.startCoordinator()
        try place.startWorker("a")
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 1)
        try change.make(source)
        try Self.expectChange(try place.awaitEnd(id), place, removed: change == .removed)
    }

    @Test(
        "A source that changes while the coordinator streams it stops the job with a failure that says so",
        arguments: [Change.replaced, .truncated, .removed])
    func streamed(change: Change) throws {
        guard let media = Workplace.media("firefox-esr--movie_300.mp4") else { return }
        let place = try Workplace()
        let folder = place.file("folder")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let source = folder + "/film.mp4"
        try FileManager.default.copyItem(atPath: media, toPath: source)
        guard let hidden = StreamedSourceTests.hiding(folder) else { return }
        try place.startCoordinator()
        try place.startWorker("far", prefix: hidden)
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 1)
        try change.make(source)
        let report = try place.awaitEnd(id)
        try Self.expectChange(report, place, removed: change == .removed)
        #expect(report["source_access"] as? [String: String] == ["far": "streamed"])
    }

    @Test("A source that changes under an export on one machine stops it")
    func export() throws {
        guard let media = Workplace.media("firefox-esr--movie_300.mp4") else { return }
        let place = try Workplace()
        let source = place.file("film.mp4")
        try FileManager.default.copyItem(atPath: media, toPath: source)
        let words = ["export", source, place.file("out.mp4"), "--workers", "1", "--quiet"] + Workplace.slow
        let outcome = try place.weft(
            words,
            meanwhile: {
                try place.awaits("a segment") { place.spooledSegments > 0 }
                try Change.replaced.make(source)
            })
        #expect(outcome.code == 65, "\(outcome.errors)")
        #expect(outcome.errors.contains("changed while"), "\(outcome.errors)")
        #expect(place.bytes("out.mp4") == nil)
    }
}
