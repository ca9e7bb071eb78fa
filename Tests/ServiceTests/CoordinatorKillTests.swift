import Foundation
import Support
import Testing

/// `kill -9` of the coordinator at instants that a seed chooses: some by the clock, some by what can be seen from outside (a commit
/// grows the write-ahead log, a spool file is begun, the output grows, the last segment is there).
///
/// `WEFT_KILLS` says how many (15), `WEFT_SEED` which (1).
@Suite("A coordinator that is killed again and again", .serialized)
struct CoordinatorKillTests {
    private static let segments = 24
    private static let killsPerJob = 10

    /// What is waited for before a kill, at most for `patience`.
    enum Sign: String, CaseIterable {
        case time, start, commit, spooling, stitching, lastSegment

        static let patience = 1.5
    }

    @Test("completes its jobs with the bytes of one that was not; nothing accepted is encoded again")
    func kills() throws {
        let place = try Workplace()
        guard let source = try place.clip(seconds: Self.segments * 2) else { return }
        let words = ProcessInfo.processInfo.environment
        let wanted = Int(words["WEFT_KILLS"] ?? "") ?? 15
        let seed = UInt64(words["WEFT_SEED"] ?? "") ?? 1
        var random = SeededRandom(seed: seed)
        let options = ["--segment-duration", "2", "-o", "preset=ultrafast", "--filter", "realtime=speed=6"]
        let reference = try place.reference(source, options)
        var coordinator = try place.startCoordinator(listen: "ipc://" + place.file("socket"))
        try place.startWorker("a", slots: 2)
        try place.awaitWorkers(2)
        var tally = KillTally()
        var number = 0
        while tally.kills < wanted {
            number += 1
            let target = "out-\(number).mp4"
            let watch = KillWatch(place: place, target: target, segments: Self.segments)
            let id = try place.submit(source, target, options)
            watch.job = id
            for _ in 0..<min(Self.killsPerJob, wanted - tally.kills) {
                let sign = Sign.allCases[Int(random.next() % UInt64(Sign.allCases.count))]
                let fraction = Double(random.next() % 1000) / 1000
                watch.await(sign, fraction: fraction)
                guard !watch.isOver else { break }
                kill(coordinator.processIdentifier, SIGKILL)
                tally.count(watch.phase(sign))
                coordinator.waitUntilExit()
                coordinator = try place.startCoordinator(listen: place.address)
            }
            let report = try place.awaitEnd(id)
            let place1 = "seed \(seed), job \(number)"
            #expect(report["state"] as? String == "done", "\(place1): \(report)")
            #expect(place.bytes(target) == reference, "\(place1)")
            let rows = try place.segments(id)
            #expect(try place.acceptances(id) == [Int](repeating: 1, count: Self.segments), "\(place1)")
            let states = rows.flatMap { $0["attempts"] as? [[String: Any]] ?? [] }.compactMap { $0["state"] as? String }
            #expect(!states.contains("running"), "\(place1): \(states)")
            #expect(report["attempts"] as? Int == states.count, "\(place1)")
            let rest = try FileManager.default.contentsOfDirectory(atPath: place.path)
            #expect(!rest.contains { $0.contains(".part") }, "\(place1): \(rest)")
            tally.add(attempts: states, events: try place.events(id))
        }
        print("coordinator kills, seed \(seed): \(tally.sentence)")
    }
}

/// What the kills met.
private struct KillTally {
    private(set) var kills = 0
    private var phases: [String: Int] = [:]
    private var repeated = 0
    private var reattached = 0
    private var jobs = 0
    private var accepted = 0

    mutating func count(_ phase: String) {
        kills += 1
        phases[phase, default: 0] += 1
    }

    mutating func add(attempts: [String], events: [String]) {
        jobs += 1
        accepted += attempts.count { $0 == "accepted" }
        repeated += attempts.count { $0 != "accepted" && $0 != "superseded" }
        reattached += events.count { $0 == "reattached" }
    }

    var sentence: String {
        let list = phases.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "\(kills) kills over \(jobs) jobs (\(list)); \(accepted) segments accepted once each, "
            + "\(reattached) leases taken up again, \(repeated) attempts that did not count"
    }
}

/// Sees from outside how far a job is: by its files alone, so that looking does not disturb the coordinator.
private final class KillWatch {
    let place: Workplace
    let target: String
    let segments: Int
    var job = ""

    init(place: Workplace, target: String, segments: Int) {
        self.place = place
        self.target = target
        self.segments = segments
    }

    private func names(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private var spool: [String] { names(place.file("state/coordinator/jobs/\(job)/spool")) }
    private var stored: Int { spool.count { $0.hasSuffix(".spool") } }
    private var isSpooling: Bool { spool.contains { $0.hasSuffix(".part") } }
    private func size(_ path: String) -> Int {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) &+ Int(info.st_mtim.tv_nsec) : 0
    }
    private var log: Int { size(place.file("state/coordinator/jobs.db-wal")) }
    private var output: Int {
        let names = names(place.path).filter { $0.contains(target.dropLast(4)) && $0 != target }
        return names.reduce(0) { $0 &+ size(place.file($1)) }
    }

    var isOver: Bool { FileManager.default.fileExists(atPath: place.file(target)) }

    func await(_ sign: CoordinatorKillTests.Sign, fraction: Double) {
        let (log, output, stored) = (log, output, stored)
        let end = Date(timeIntervalSinceNow: sign == .time ? fraction : CoordinatorKillTests.Sign.patience)
        while Date() < end, !isOver {
            switch sign {
            case .time: break
            case .start: return sleep(0.1 * fraction)
            case .commit: if self.log != log { return sleep(0.001 * fraction) }
            case .spooling: if isSpooling { return sleep(0.002 * fraction) }
            case .stitching: if self.output != output, self.stored > stored { return sleep(0.02 * fraction) }
            case .lastSegment: if self.stored == segments { return sleep(0.08 * fraction) }
            }
            usleep(200)
        }
    }

    private func sleep(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }

    func phase(_ sign: CoordinatorKillTests.Sign) -> String {
        if isOver { return "after the end" }
        if stored == segments { return "last stitch, proof and finalization" }
        if sign == .commit { return "commit" }
        if isSpooling { return "spooling" }
        if sign == .stitching { return "stitching" }
        return stored == 0 && output == 0 ? "planning" : "leasing and encoding"
    }
}
