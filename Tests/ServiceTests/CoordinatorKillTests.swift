import Foundation
import Support
import Testing

/// `kill -9` of the coordinator in every phase of a job. A seed chooses the instant within the phase; the phase that was met least is
/// aimed at next, and what was met is read from the job store as the kill has left it.
///
/// `WEFT_KILLS` says how many (15), `WEFT_SEED` which (1). Figures are printed.
@Suite("A coordinator that is killed again and again", .serialized)
struct CoordinatorKillTests {
    private static let segments = 24
    /// Kills of one job while it encodes, and once all segments are there.
    private static let mostKills = (encoding: 10, after: 4)

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
            let note: Comment = "seed \(seed), job \(number)"
            let target = "out-\(number).mp4"
            let id = try place.submit(source, target, options)
            let aim = KillAim(place: place, job: id, target: target, segments: Self.segments)
            var (encoding, after) = (0, 0)
            while tally.kills < wanted, after < Self.mostKills.after, !aim.isOver {
                let isSpent = encoding >= Self.mostKills.encoding
                let phase = tally.rarest(of: KillPhase.feasible(hasAll: aim.hasAll, isSpent: isSpent), &random)
                let isSeen = aim.await(phase, in: coordinator.processIdentifier, fraction: random.fraction())
                kill(coordinator.processIdentifier, SIGKILL)
                coordinator.waitUntilExit()
                let met = try KillScene(place, job: id).phase(aimedAt: phase, isSeen: isSeen, note: note)
                tally.count(met, aimedAt: phase)
                if aim.hasAll { after += 1 } else { encoding += 1 }
                coordinator = try place.startCoordinator(listen: place.address)
            }
            let report = try place.awaitEnd(id)
            #expect(report["state"] as? String == "done", "\(note): \(report)")
            #expect(place.bytes(target) == reference, note)
            let rows = try place.segments(id)
            #expect(try place.acceptances(id) == [Int](repeating: 1, count: Self.segments), note)
            let states = rows.flatMap { $0["attempts"] as? [[String: Any]] ?? [] }.compactMap { $0["state"] as? String }
            #expect(!states.contains("running"), "\(note): \(states)")
            #expect(report["attempts"] as? Int == states.count, note)
            let rest = try FileManager.default.contentsOfDirectory(atPath: place.path)
            #expect(!rest.contains { $0.contains(".part") }, "\(note): \(rest)")
            let spool = try FileManager.default.contentsOfDirectory(
                atPath: place.file("state/coordinator/jobs/\(id)/spool"))
            #expect(spool.count == Self.segments && !spool.contains { $0.hasSuffix(".part") }, "\(note): \(spool)")
            tally.add(attempts: states, events: try place.events(id))
        }
        print("coordinator kills, seed \(seed): \(tally.sentence)")
        // Without a kill in each phase the rest says little.
        for phase in KillPhase.allCases {
            #expect(tally.share(of: phase) >= 0.1 || wanted < 100, "\(phase.rawValue): \(tally.sentence)")
        }
    }
}

extension SeededRandom {
    /// 0 up to 1.
    fileprivate mutating func fraction() -> Double { Double(next() % 1000) / 1000 }
}

/// What the kills met.
private struct KillTally {
    private(set) var kills = 0
    private var phases: [KillPhase: Int] = [:]
    private var aims: [KillPhase: Int] = [:]
    private var late = 0
    private var repeated = 0
    private var reattached = 0
    private var jobs = 0
    private var accepted = 0

    /// - Parameter phase: `nil` for a kill when the job was over.
    mutating func count(_ phase: KillPhase?, aimedAt aim: KillPhase) {
        aims[aim, default: 0] += 1
        guard let phase else { return late += 1 }
        kills += 1
        phases[phase, default: 0] += 1
    }

    mutating func add(attempts: [String], events: [String]) {
        jobs += 1
        accepted += attempts.count { $0 == "accepted" }
        repeated += attempts.count { $0 != "accepted" && $0 != "superseded" }
        reattached += events.count { $0 == "reattached" }
    }

    /// One that is often missed must not take the turn of all others.
    func rarest(of feasible: [KillPhase], _ random: inout SeededRandom) -> KillPhase {
        func weight(_ phase: KillPhase) -> Int { phases[phase, default: 0] + aims[phase, default: 0] }
        let least = feasible.map(weight).min() ?? 0
        return feasible.filter { weight($0) == least }.randomElement(using: &random) ?? .leasing
    }

    func share(of phase: KillPhase) -> Double { Double(phases[phase, default: 0]) / Double(max(1, kills)) }

    var sentence: String {
        let list = KillPhase.allCases.map { "\($0.rawValue) \(phases[$0, default: 0])" }.joined(separator: ", ")
        return "\(kills) kills over \(jobs) jobs (\(list)), and \(late) after the end; "
            + "\(accepted) segments accepted once each, \(reattached) leases taken up again, "
            + "\(repeated) attempts that did not count"
    }
}
