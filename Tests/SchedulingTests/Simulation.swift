import ClusterProtocol
import Scheduling

/// Drives the production scheduler through a scenario in virtual time.
final class Simulation {
    /// A slot process.
    struct Process {
        var worker: WorkerID
        let node: Int
        var isAlive = true
        /// The coordinator has it among its workers.
        var isConnected = false
        var work: Work?
        /// Finished while the coordinator could not be reached.
        var unsent: [Event] = []
        /// Everything that was planned for an earlier state of the process is void.
        var version = 0
        var lastDelivery: Int64 = 0
    }

    struct Work {
        var lease: LeaseID
        var job: JobID
        var segment: Int
        var started: Int64
        var seconds: Double
        var ending: Ending
    }

    struct Slot: Hashable {
        var node: String
        var slot: Int
    }

    enum Ending { case result(hash: String, isCorrupt: Bool), failure(Failure), death, hang }

    enum Item {
        case submit(Int)
        case deliver(Event, epoch: Int, from: Int?)
        case command(Action, process: Int, epoch: Int)
        case progress(process: Int, version: Int, quarter: Int)
        case end(process: Int, version: Int)
        case start(process: Int)
        case stored(LeaseID, Scenario.Place, epoch: Int)
        case partition(node: Int), lossNoticed(node: Int, partition: Int), heal(node: Int)
        case restart
        case connect(process: Int, version: Int, epoch: Int)
        case operatorMove
    }

    private(set) var scenario: Scenario
    var random: SeededRandom
    var scheduler = Scheduler()
    var ledger = Ledger()
    var queue = EventQueue<Item>()
    var now: Int64 = 0
    var epoch = 0
    var processes: [Process] = []
    var partitions: [Int: Int] = [:]
    var partitionCount = 0
    var corrupt: Set<LeaseID> = []
    var hashes: [LeaseID: String] = [:]
    var storing: [LeaseID: Scenario.Place] = [:]
    var places: [Slot: Int] = [:]
    var steps = 0
    var lastAcceptance = 0.0

    init(_ scenario: Scenario) {
        self.scenario = scenario
        self.random = SeededRandom(seed: scenario.seed)
        for (index, job) in scenario.jobs.enumerated() { queue.plan(.submit(index), at: nanoseconds(job.at)) }
        for (number, node) in scenario.nodes.enumerated() {
            for slot in 0..<node.slots {
                processes.append(
                    Process(worker: WorkerID(node: node.name, slot: slot), node: number, isAlive: false))
                places[Slot(node: node.name, slot: slot)] = processes.count - 1
                queue.plan(.start(process: processes.count - 1), at: nanoseconds(random.within(0...0.1)))
            }
        }
        planMisfortunes()
    }

    private func planMisfortunes() {
        let span = max(scenario.lowerBound, 1)
        for _ in 0..<scenario.faults.partitions {
            let node = random.below(scenario.nodes.count)
            queue.plan(.partition(node: node), at: nanoseconds(random.within(0...span)))
        }
        for _ in 0..<scenario.faults.restarts { queue.plan(.restart, at: nanoseconds(random.within(0...span))) }
        for _ in 0..<scenario.faults.operatorMoves {
            queue.plan(.operatorMove, at: nanoseconds(random.within(0...span)))
        }
    }

    /// Runs until every job is over and returns what was violated.
    func run(stepLimit: Int = 5_000_000) -> [String] {
        while !isOver, ledger.violations.isEmpty {
            guard step(), steps < stepLimit else {
                let jobs = scenario.jobs.compactMap { scheduler.jobStatus($0.spec.id) }
                    .map { "\($0.id) \($0.state) \($0.counts)" }
                let workers = Set(scheduler.workerStatus().map(\.state))
                ledger.expect(false, "jobs do not end after \(steps) steps, \(seconds) s: \(jobs), \(workers)")
                break
            }
            if steps.isMultiple(of: 20_000) { audit() }
        }
        audit()
        return ledger.violations.map { "seed \(scenario.seed): \($0)" }
    }

    /// The operator repairs what was wrong with the segments that failed, and has them run again.
    func retryFailed() {
        scenario.poisoned = []
        scenario.killers = []
        for (_, spec) in scenario.jobs where ledger.states[spec.id] == .failed {
            ledger.retried(spec.id)
            handle(.jobRetried(spec.id, RetryRequest()))
        }
    }

    var seconds: Double { Double(now) / 1e9 }

    /// Makespan against the lower bound.
    var stretch: Double { lastAcceptance / scenario.lowerBound }

    private var isOver: Bool {
        ledger.states.count == scenario.jobs.count && ledger.states.values.allSatisfy(\.isOver)
    }

    private func audit() {
        for job in scenario.jobs { ledger.audit(scheduler, job.spec) }
    }

    private func step() -> Bool {
        steps += 1
        let due = scheduler.nextDeadline?.nanoseconds
        if let due, due != .max, due <= queue.nextTime ?? .max {
            now = max(now, due)
            handle(.tick)
            return true
        }
        guard let (at, item) = queue.next() else { return false }
        now = max(now, at)
        perform(item)
        return true
    }

    func nanoseconds(_ seconds: Double) -> Int64 { Interval(seconds: seconds).nanoseconds }

    func plan(_ item: Item, in seconds: Double) { queue.plan(item, at: now + nanoseconds(seconds)) }

    func handle(_ event: Event) {
        for action in scheduler.handle(event, now: Instant(nanoseconds: now)) {
            ledger.note(action)
            obey(action)
        }
    }

    func accept(_ lease: LeaseID, _ place: Scenario.Place) {
        ledger.accept(lease, place, hash: hashes[lease] ?? "")
        lastAcceptance = seconds
    }
}
