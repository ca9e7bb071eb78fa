import ClusterProtocol
import Foundation
import JobStore
import Scheduling
import Testing

@Suite("Job store") struct JobStoreTests {
    private typealias Temporary = TemporaryStore
    private let film = TemporaryStore.film

    @Test("A job is read as it was written, also by the next process") func roundTrip() throws {
        let temporary = try Temporary()
        let job = try Temporary.job()
        try temporary.open().createJob(job)
        let store = try temporary.open()
        #expect(try store.job(film) == job)
        #expect(try store.jobs() == [job])
        #expect(try store.job(film)?.settings.decoded(as: ExportSettings.self) == ExportSettings())
        #expect(try store.job(JobID("other")) == nil)
    }

    @Test("Job ids are unique, and a job that is not there cannot be changed") func identity() throws {
        let temporary = try Temporary()
        let store = try temporary.open()
        let job = try Temporary.job()
        try store.createJob(job)
        #expect(errorKind { try store.createJob(job) } == .exists)
        #expect(errorKind { try store.updateJob(JobID("x"), state: .running, at: 1) } == .missing)
        #expect(errorKind { try store.deleteJob(JobID("x")) } == .missing)
        #expect(errorKind { _ = try store.segments(of: JobID("x")) } == .missing)
        #expect(errorKind { _ = try store.progress(of: JobID("x")) } == .missing)
    }

    @Test("State, failure, priority and settings of a job change") func update() throws {
        let store = try Temporary().open()
        try store.createJob(try Temporary.job())
        try store.updateJob(film, state: .failed, failure: Temporary.failure, at: 2000)
        try store.updateJob(film, priority: 9, at: 3000)
        try store.updateJob(film, settings: JSONText(text: "{\"a\":1}"), at: 4000)
        let job = try #require(try store.job(film))
        #expect(job.state == .failed && job.failure == Temporary.failure)
        #expect(job.priority == 9 && job.settings.text == "{\"a\":1}" && job.created == 1000 && job.updated == 4000)
        try store.updateJob(film, state: .running, at: 5000)
        #expect(try store.job(film)?.failure == nil)
    }

    @Test("Accepted, failed and pending segments come back in order") func segments() throws {
        let store = try Temporary().open()
        try store.createJob(try Temporary.job(segments: 4))
        try store.acceptSegment(Temporary.accepted(2, lease: 5), of: film, at: 1)
        try store.failSegment(0, of: film, Temporary.failure)
        #expect(
            try store.segments(of: film) == [
                .failed(index: 0, Temporary.failure), .pending(index: 1),
                .finished(Temporary.accepted(2, lease: 5)), .pending(index: 3),
            ])
        #expect(try store.spools() == [film: SpoolUse(bytes: 1 << 40, cleaned: 0)])
    }

    @Test("Cleaned segments stay finished, hold nothing, and can be made again, also for the next process")
    func cleaned() throws {
        let temporary = try Temporary()
        do {
            let store = try temporary.open()
            try store.createJob(try Temporary.job(segments: 3))
            try store.acceptSegment(Temporary.accepted(0, lease: 5), of: film, at: 1)
            try store.acceptSegment(Temporary.accepted(1, lease: 6), of: film, at: 1)
            try store.failSegment(2, of: film, Temporary.failure)
            #expect(try store.cleanSegments(of: film) == 2)
            #expect(try store.cleanSegments(of: film) == 0)
        }
        let store = try temporary.open()
        guard case .finished(let segment) = try store.segment(1, of: film) else {
            Issue.record("\(try store.segment(1, of: film))")
            return
        }
        #expect(segment.isCleaned && segment.hash == "00ff1" && segment.frames == 250)
        #expect(try store.segments(of: film)[2] == .failed(index: 2, Temporary.failure))
        #expect(try store.progress(of: film).finished == [0: "00ff0", 1: "00ff1"])
        #expect(try store.spools() == [film: SpoolUse(bytes: 0, cleaned: 2)])
        #expect(try store.reopenSegments([0, 1], of: film) == [])
        try store.acceptSegment(Temporary.accepted(1, lease: 7), of: film, at: 1)
        #expect(try store.segment(0, of: film) == .pending(index: 0))
        #expect(try store.spools() == [film: SpoolUse(bytes: 1 << 40, cleaned: 0)])
    }

    @Test("A segment that the job does not have is refused", arguments: [-1, 4, .max])
    func noSuchSegment(index: Int) throws {
        let store = try Temporary().open()
        try store.createJob(try Temporary.job(segments: 4))
        #expect(
            errorKind { try store.acceptSegment(Temporary.accepted(index, lease: 5), of: film, at: 1) } == .missing)
        #expect(errorKind { try store.failSegment(index, of: film, Temporary.failure) } == .missing)
    }

    @Test("No lease is accepted twice") func acceptedOnce() throws {
        let store = try Temporary().open()
        try store.createJob(try Temporary.job())
        try store.acceptSegment(Temporary.accepted(2, lease: 5), of: film, at: 1)
        #expect(errorKind { try store.acceptSegment(Temporary.accepted(3, lease: 5), of: film, at: 1) } == .exists)
        #expect(try store.segments(of: film)[3] == .pending(index: 3))
    }

    @Test("A rerun names the spool file that it replaces") func rerun() throws {
        let store = try Temporary().open()
        try store.createJob(try Temporary.job())
        #expect(try store.acceptSegment(Temporary.accepted(2, lease: 5), of: film, at: 1) == nil)
        #expect(try store.acceptSegment(Temporary.accepted(2, lease: 6), of: film, at: 1) == "2-5.seg")
        try store.failSegment(4, of: film, Temporary.failure)
        #expect(try store.reopenSegments([2, 4, 7], of: film) == ["2-6.seg"])
        #expect(try store.segments(of: film) == (0..<10).map(SegmentRecord.pending(index:)))
    }

    @Test("Progress is what the scheduler needs to go on") func progress() throws {
        let store = try Temporary().open()
        try store.createJob(try Temporary.job())
        try store.updateJob(film, state: .running, at: 1)
        try store.recordLeases(
            (1...3).map {
                LeaseRecord(lease: LeaseID($0), job: film, segment: Int($0), worker: Temporary.worker, granted: 5)
            })
        try store.acceptSegment(Temporary.accepted(1, lease: 1), of: film, at: 9)
        try store.endLease(LeaseID(2), as: .failed, failure: Temporary.failure, frames: 3, at: 9)
        try store.failSegment(8, of: film, Temporary.failure)
        #expect(
            try store.progress(of: film)
                == JobProgress(
                    state: .running, finished: [1: "00ff1"], failed: [8: Temporary.failure],
                    openLeases: [.init(lease: LeaseID(3), worker: Temporary.worker, segment: 3)]))
        let leases = try store.leases(of: film)
        #expect(leases.map(\.state) == [.finished, .failed, .running])
        #expect(leases.map(\.frames) == [250, 3, 0] && leases[1].failure == Temporary.failure)
    }

    @Test("A lease of a job that is not there is refused, and its batch with it") func foreignKey() throws {
        let store = try Temporary().open()
        try store.createJob(try Temporary.job())
        let good = LeaseRecord(lease: LeaseID(1), job: film, segment: 0, worker: Temporary.worker, granted: 5)
        var bad = good
        bad.lease = LeaseID(2)
        bad.job = JobID("x")
        #expect(errorKind { try store.recordLeases([good, bad]) } == .missing)
        #expect(try store.leases(of: film) == [])
    }

    @Test("Deleting a job takes its segments and leases along, and leaves its events") func delete() throws {
        let store = try Temporary().open()
        try store.createJob(try Temporary.job())
        try store.acceptSegment(Temporary.accepted(2, lease: 5), of: film, at: 1)
        try store.appendEvent("submitted", job: film, detail: JSONText(text: "{}"), at: 1)
        try store.deleteJob(film)
        try store.createJob(try Temporary.job())
        #expect(try store.segments(of: film).allSatisfy { if case .pending = $0 { true } else { false } })
        #expect(try store.events(of: film).count == 1)
    }

    @Test("Several changes are one, or none") func transaction() throws {
        let store = try Temporary().open()
        try store.createJob(try Temporary.job())
        let kind = errorKind {
            try store.transaction { () throws(JobStoreError) in
                try store.acceptSegment(Temporary.accepted(2, lease: 5), of: film, at: 1)
                try store.failSegment(99, of: film, Temporary.failure)
            }
        }
        #expect(kind == .missing)
        #expect(try store.segments(of: film)[2] == .pending(index: 2))
        try store.failSegment(2, of: film, Temporary.failure)
    }

    @Test("The event log keeps its newest events and never reuses a number") func events() throws {
        let temporary = try Temporary()
        do {
            let store = try JobStore(at: temporary.path, eventLimit: 10)
            for number in 0..<25 {
                try store.appendEvent(
                    "kind", job: number % 2 == 0 ? film : nil, detail: JSONText(text: "\(number)"), at: Int64(number))
            }
        }
        let store = try JobStore(at: temporary.path, eventLimit: 10)
        #expect(try store.events().map(\.sequence) == Array(16...25))
        #expect(try store.events(of: film).map(\.detail.text) == ["16", "18", "20", "22", "24"])
        #expect(try store.events(after: 20, limit: 2).map(\.sequence) == [21, 22])
        try store.appendEvent("next", detail: JSONText(text: "{}"), at: 0)
        #expect(try store.events().last?.sequence == 26)
    }

    @Test("Workers are kept by slot") func workers() throws {
        let store = try Temporary().open()
        for (slot, incarnation) in [(1, 1), (0, 1), (1, UInt64.max)] as [(Int, UInt64)] {
            try store.recordWorker(
                WorkerRecord(
                    node: "a", slot: slot, incarnation: incarnation, lastSeen: Int64(slot),
                    detail: JSONText(text: "{}")))
        }
        #expect(try store.workers().map(\.incarnation) == [1, .max])
        try store.forgetWorkers(before: 1)
        #expect(try store.workers().map(\.slot) == [1])
    }

    @Test("Keyframe indexes are kept by fingerprint, the least used go first") func sourceIndexes() throws {
        let store = try Temporary().open()
        func fingerprint(_ number: Int) -> SourceReference.Fingerprint {
            .init(size: Int64(number), modified: 1, hash: "ab")
        }
        for number in 0..<JobStore.sourceIndexLimit {
            try store.storeSourceIndex(JSONText(text: "\(number)"), for: fingerprint(number), at: Int64(number))
        }
        #expect(try store.sourceIndex(for: fingerprint(0), at: 9999)?.text == "0")
        try store.storeSourceIndex(JSONText(text: "new"), for: fingerprint(-1), at: 10_000)
        #expect(try store.sourceIndex(for: fingerprint(0), at: 10_001) != nil)
        #expect(try store.sourceIndex(for: fingerprint(1), at: 10_001) == nil)
        #expect(try store.sourceIndex(for: .init(size: 2, modified: 2, hash: "ab"), at: 1) == nil)
    }

    @Test("A value of the wrong form is an error that says so") func malformed() throws {
        #expect(errorKind { _ = try JSONText(text: "{").decoded(as: Failure.self) } == .malformed)
    }

    @Test(
        "Any text goes through, also empty and with zero bytes in it",
        arguments: ["", "a\0b", "ß–😀", "'; DROP TABLE jobs"])
    func text(text: String) throws {
        let store = try Temporary().open()
        var job = try Temporary.job(JobID(text))
        job.destination = text
        try store.createJob(job)
        #expect(try store.job(JobID(text))?.destination == text)
    }
}
