import Scheduling
import Testing

@testable import Coordinator

@Suite("Which spools are kept")
struct SpoolPolicyTests {
    private typealias Holding = SpoolPolicy.Holding
    /// Milliseconds.
    private let hour: Int64 = 3_600_000
    private let day: Int64 = 86_400_000
    private let now: Int64 = 1_000 * 86_400_000

    private func held(_ name: String, _ state: JobState?, ago: Int64 = 0, _ bytes: Int64 = 10) -> Holding {
        Holding(job: JobID(name), end: state.map { ($0, now - ago) }, bytes: bytes)
    }

    @Test("Done and cancelled jobs' go after a day, failed ones' after thirty, those of jobs at work never")
    func age() {
        let decision = SpoolPolicy().decide(
            [
                held("old", .finished, ago: day), held("new", .finished, ago: day - 1),
                held("stopped", .cancelled, ago: 2 * day), held("failed", .failed, ago: 29 * day),
                held("given up", .failed, ago: 30 * day), held("at work", nil),
            ], now: now)
        #expect(Set(decision.outdated) == [JobID("old"), JobID("stopped"), JobID("given up")])
        #expect(decision.oversize.isEmpty && decision.excess == 0)
    }

    @Test("Nothing is kept with a time of zero, and all of it with one that does not end")
    func extremes() {
        let jobs = [held("a", .finished), held("b", .cancelled), held("c", .failed)]
        let none = SpoolPolicy(keepSeconds: 0, keepFailedSeconds: 0).decide(jobs, now: now)
        #expect(Set(none.outdated) == Set(jobs.map(\.job)))
        let old = jobs.map { Holding(job: $0.job, end: $0.end.map { ($0.state, 0) }, bytes: $0.bytes) }
        #expect(SpoolPolicy(keepSeconds: .infinity, keepFailedSeconds: .infinity).decide(old, now: now) == .init())
    }

    @Test("Above the limit done jobs' go before cancelled ones', the oldest first, and no more than are in the way")
    func size() {
        let jobs = [
            held("young", .finished, ago: hour), held("oldest", .finished, ago: 9 * hour),
            held("middle", .finished, ago: 5 * hour), held("stopped", .cancelled, ago: 20 * hour),
            held("failed", .failed, ago: 20 * day), held("at work", nil),
        ]
        func oversize(_ limit: Int64) -> [String] {
            SpoolPolicy(limit: limit).decide(jobs, now: now).oversize.map(\.text)
        }
        #expect(oversize(60) == [])
        #expect(oversize(59) == ["oldest"])
        #expect(oversize(45) == ["oldest", "middle"])
        #expect(oversize(20) == ["oldest", "middle", "young", "stopped"])
    }

    @Test("What may not go is told as excess")
    func excess() {
        let jobs = [held("failed", .failed, ago: day, 40), held("at work", nil, 50), held("done", .finished, 5)]
        let decision = SpoolPolicy(limit: 60).decide(jobs, now: now)
        #expect(decision.oversize == [JobID("done")] && decision.excess == 30)
    }

    @Test("An outdated spool counts no more when the size is looked at")
    func both() {
        let jobs = [held("old", .finished, ago: 2 * day, 100), held("new", .finished, ago: hour)]
        let decision = SpoolPolicy(limit: 50).decide(jobs, now: now)
        #expect(decision.outdated == [JobID("old")] && decision.oversize.isEmpty)
    }
}
