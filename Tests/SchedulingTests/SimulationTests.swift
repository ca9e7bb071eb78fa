import ClusterProtocol
import Foundation
import Scheduling
import Testing

@Suite("Simulated clusters") struct SimulationTests {
    /// Larger and more of everything where there is time for it.
    static let isLong = ProcessInfo.processInfo.environment["WEFT_SIMULATION"] == "long"

    static func seeds(_ count: Int) -> [UInt64] {
        if let seed = ProcessInfo.processInfo.environment["WEFT_SEED"].flatMap(UInt64.init) { return [seed] }
        return (1...UInt64(isLong ? count * 25 : count)).map { $0 }
    }

    @Test("Every job ends and every segment has one accepted result, with every fault at once", arguments: seeds(12))
    func everything(seed: UInt64) {
        var random = SeededRandom(seed: seed &* 7919)
        var scenario = Scenario(
            seed: seed, nodes: Scenario.mixedNodes(slots: 48, random: &random),
            jobs: (0..<4).map { number in
                let job = Scenario.job(
                    "job\(number)", segments: 60 + random.below(200), priority: random.below(2), random: &random)
                return (random.within(0...20), job)
            }, faults: .all)
        scenario.nodes.append(Scenario.NodeModel(name: "broken", slots: 4, speed: 1, fails: true))
        scenario.poisoned = [.init(job: JobID("job1"), segment: 7)]
        scenario.killers = [.init(job: JobID("job2"), segment: 9)]
        let simulation = Simulation(scenario)
        #expect(simulation.run() == [])
        #expect(simulation.ledger.states[JobID("job1")] == .failed)
        #expect(simulation.ledger.states[JobID("job2")] == .failed)
        // One wave, then one lease a quarantine.
        let wasted = simulation.ledger.leasesByNode["broken"] ?? 0
        #expect(wasted <= 60, "seed \(seed): the broken node got \(wasted) leases")
        let kept = simulation.ledger.accepted
        simulation.retryFailed()
        #expect(simulation.run() == [])
        #expect(simulation.ledger.states.values.allSatisfy { $0 == .finished }, "seed \(seed)")
        #expect(kept.allSatisfy { simulation.ledger.accepted[$0.key]?.lease == $0.value.lease }, "seed \(seed)")
    }

    @Test("The faults of the simulator reach the scheduler")
    func faultsHappen() {
        var seen: Set<String> = []
        for seed in 1...8 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            let simulation = Simulation(
                Scenario(
                    seed: seed, nodes: Scenario.mixedNodes(slots: 48, random: &random),
                    jobs: [(0, Scenario.job("film", segments: 300, random: &random))], faults: .all))
            #expect(simulation.run() == [])
            seen.formUnion(simulation.ledger.seen.keys)
        }
        // Two results of one segment within the same few milliseconds are rare here; DispatchTests has that.
        let expected: Set = [
            "speculation", "revoked: superseded", "revoked: stalled", "revoked: stale", "discarded: stale",
            "discarded: duplicate", "quarantine", "reattached", "held", "failed: encoder",
            "failed: hardware", "failed: transport", "failed: resources", "failed: storage",
        ]
        #expect(expected.subtracting(seen) == [])
    }

    @Test("Only segments that cannot be done fail", arguments: seeds(6))
    func onlyPoisonFails(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var faults = Scenario.Faults.all
        faults.failure = 0.005
        faults.death = 0.005
        faults.hang = 0.002
        var scenario = Scenario(
            seed: seed, nodes: Scenario.mixedNodes(slots: 64, random: &random),
            jobs: [(0, Scenario.job("film", segments: 600, random: &random))], faults: faults)
        scenario.poisoned = [.init(job: JobID("film"), segment: 100), .init(job: JobID("film"), segment: 599)]
        let simulation = Simulation(scenario)
        #expect(simulation.run() == [])
        #expect(Set(simulation.ledger.failed.keys) == scenario.poisoned, "seed \(seed)")
        #expect(simulation.ledger.accepted.count == 598)
    }

    @Test("The same seed gives the same run")
    func deterministic() {
        func run() -> (Int, Double, Int) {
            var random = SeededRandom(seed: 5)
            let scenario = Scenario(
                seed: 5, nodes: Scenario.mixedNodes(slots: 32, random: &random),
                jobs: [(0, Scenario.job("film", segments: 300, random: &random))], faults: .all)
            let simulation = Simulation(scenario)
            _ = simulation.run()
            return (simulation.steps, simulation.lastAcceptance, simulation.ledger.leases)
        }
        #expect(run() == run())
    }

    @Test("Mixed slots finish within 3 % of the lower bound", arguments: seeds(3))
    func makespan(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let slots = Self.isLong ? 1000 : 200
        let scenario = Scenario(
            seed: seed, nodes: Scenario.mixedNodes(slots: slots, random: &random),
            jobs: [(0, Scenario.job("film", segments: slots * 20, random: &random))], reportsProgress: true)
        let simulation = Simulation(scenario)
        #expect(simulation.run() == [])
        print(
            "seed \(seed), \(slots) slots: makespan \(simulation.stretch) of the lower bound,",
            "\(simulation.ledger.speculative) speculative leases")
        #expect(simulation.stretch <= 1.03, "seed \(seed)")
    }

    @Test("A node ten times slower costs less than 10 %", arguments: seeds(3))
    func slowNode(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let slots = Self.isLong ? 1000 : 200
        var nodes = (0..<slots / 8).map { Scenario.NodeModel(name: "node\($0)", slots: 8, speed: 1) }
        nodes[3].speed = 0.1
        let scenario = Scenario(
            seed: seed, nodes: nodes, jobs: [(0, Scenario.job("film", segments: slots * 20, random: &random))])
        let simulation = Simulation(scenario)
        #expect(simulation.run() == [])
        print("seed \(seed), one slow node: makespan \(simulation.stretch) of the lower bound")
        #expect(simulation.stretch <= 1.10, "seed \(seed)")
    }

    @Test("Ten thousand slots and a hundred thousand segments", .enabled(if: isLong))
    func large() {
        var random = SeededRandom(seed: 1)
        let scenario = Scenario(
            seed: 1, nodes: Scenario.mixedNodes(slots: 10_000, random: &random),
            jobs: [(0, Scenario.job("film", segments: 100_000, random: &random))])
        let simulation = Simulation(scenario)
        let start = ContinuousClock.now
        #expect(simulation.run() == [])
        print(
            "10,000 slots, 100,000 segments: \(ContinuousClock.now - start) for \(simulation.steps) steps,",
            "makespan \(simulation.stretch) of the lower bound")
    }
}
