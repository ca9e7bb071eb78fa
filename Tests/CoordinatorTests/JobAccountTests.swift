import ClusterProtocol
import JobStore
import Media
import Scheduling
import Support
import Testing

@testable import Coordinator

@Suite("The account of a job") struct JobAccountTests {
    @Test("What went wrong is told with its place; what is everyday's is not")
    func lines() {
        let detail = EventDetail(segment: 4, node: "a", slot: 0, text: "Gone.")
        #expect(JobAccount.line("lost", detail) == "Segment 4 on a/0: Gone.")
        #expect(JobAccount.line("recovered", EventDetail(text: "Again.")) == "Again.")
        #expect(JobAccount.line("accepted", detail) == nil)
    }

    @Test("What happens again and again takes one line, and a report does not grow without end")
    func bounded() {
        var lines: [String] = []
        for _ in 0..<3 { JobAccount.append("Broken.", to: &lines) }
        #expect(lines == ["Broken. (3 times)"])
        for number in 0..<1000 { JobAccount.append("Broken at \(number).", to: &lines) }
        #expect(lines.count == 60)
        #expect(lines.last?.contains("weft events") == true)
    }

    @Test("The store's log tells it after a restart, from the last retry on")
    func stored() throws {
        let folder = try ScratchFolder()
        let store = try JobStore(at: folder.file("jobs.db"))
        let job = JobID("film")
        try store.createJob(
            JobRecord(
                id: job, state: .running, destination: "/out.mp4", settings: try JSONText(ExportSettings()),
                source: JSONText(text: "{}"), plan: JSONText(text: "[]"), segmentCount: 1, created: 1))
        for (kind, text) in [("lost", "Old."), ("retried", "Again."), ("lost", "New."), ("accepted", "accepted")] {
            try store.appendEvent(kind, job: job, detail: try JSONText(EventDetail(text: text)), at: 1)
        }
        #expect(try JobAccount.lines(of: job, in: store) == ["New."])
    }

    @Test("Another's parameter sets are noticed, and who brought the first ones is named")
    func parameterSets() throws {
        func archive(_ profile: String) throws -> [UInt8] {
            let picture = FrameFormat(width: 64, height: 48, pixelFormat: "yuv420p", timeBase: .milliseconds)
            var settings = CompressionSettings(encoder: "libx264", video: picture)
            settings.options = ["profile": profile]
            settings.globalHeader = true
            return try CompressionSession(settings: settings).format.archive()
        }
        func sets(_ node: String, _ profile: String) throws -> ParameterSets {
            let worker = WorkerID(node: node, slot: 0, incarnation: 1)
            return try #require(ParameterSets(archive: try archive(profile), from: worker, segment: 0))
        }
        let first = try sets("a", "high")
        #expect(try sets("b", "high").difference(from: first) == nil)
        let failure = try #require(try sets("b", "main").difference(from: first))
        #expect(failure.retry == .elsewhere && failure.fault == .worker && failure.message.contains("a/0"))
    }
}
