/// How many workers a cluster should have, and which of those that are there should go. Pure.
///
/// Nothing that is at work is ended: a worker goes when it has been idle for a while, by draining, so that it takes nothing
/// new and ends by itself; only what never reached the coordinator is cancelled.
package struct Scaling: Hashable, Sendable {
    package var minimum: Int
    package var maximum: Int
    /// Slots of one worker.
    package var slots: Int
    /// How long a worker must have had nothing to do before it goes: the next job may be about to come.
    package var idleSeconds: Double

    package init(minimum: Int, maximum: Int, slots: Int, idleSeconds: Double) {
        self.minimum = max(0, minimum)
        self.maximum = max(max(0, minimum), maximum)
        self.slots = max(1, slots)
        self.idleSeconds = max(0, idleSeconds)
    }

    /// What there is to do.
    package struct Backlog: Hashable, Sendable {
        /// Segments that wait for a slot, and those at work.
        package var waiting = 0
        package var running = 0
        /// Slots of workers that others have started.
        package var foreignSlots = 0

        package init(waiting: Int = 0, running: Int = 0, foreignSlots: Int = 0) {
            self.waiting = waiting
            self.running = running
            self.foreignSlots = foreignSlots
        }
    }

    /// A worker that the engine knows.
    package struct Worker: Hashable, Sendable {
        package enum State: Hashable, Sendable {
            /// The engine has not started it.
            case queued
            /// Started; the coordinator has not seen it, or not seen it come back after it was preempted.
            case connecting
            /// Seconds without a lease.
            case idle(Double)
            case busy
            /// Takes nothing new, and ends by itself.
            case draining
        }

        package var id: String
        package var state: State

        package init(id: String, state: State) {
            self.id = id
            self.state = state
        }
    }

    package struct Decision: Hashable, Sendable {
        package var submit = 0
        /// In the order in which they should go.
        package var drain: [String] = []
        package var cancel: [String] = []

        package var isNothing: Bool { submit == 0 && drain.isEmpty && cancel.isEmpty }
    }

    /// Workers that the backlog asks for.
    package func wanted(_ backlog: Backlog) -> Int {
        let open = max(0, backlog.waiting) + max(0, backlog.running)
        let slotsNeeded = max(0, open - max(0, backlog.foreignSlots))
        let needed = slotsNeeded / slots + (slotsNeeded % slots == 0 ? 0 : 1)
        return min(max(needed, minimum), maximum)
    }

    package func decide(_ backlog: Backlog, _ workers: [Worker]) -> Decision {
        var decision = Decision()
        let wanted = wanted(backlog)
        let staying = workers.filter { $0.state != .draining }
        if staying.count < wanted {
            // Those that are leaving still hold their place.
            decision.submit = max(0, min(wanted - staying.count, maximum - workers.count))
            return decision
        }
        var surplus = staying.count - wanted
        let excess = staying.count - maximum
        for worker in staying.sorted(by: Self.goesBefore) where surplus > 0 {
            switch worker.state {
            case .queued, .connecting: decision.cancel.append(worker.id)
            // Above the maximum nobody waits, and the busy finish what they have.
            case .idle(let seconds):
                guard seconds >= idleSeconds || decision.drain.count + decision.cancel.count < excess else { continue }
                decision.drain.append(worker.id)
            case .busy:
                guard decision.drain.count + decision.cancel.count < excess else { continue }
                decision.drain.append(worker.id)
            case .draining: continue
            }
            surplus -= 1
        }
        return decision
    }

    /// What costs least goes first: what has not begun, then who has been idle for longest.
    private static func goesBefore(_ left: Worker, _ right: Worker) -> Bool {
        let (a, b) = (rank(left.state), rank(right.state))
        return a == b ? left.id > right.id : a < b
    }

    private static func rank(_ state: Worker.State) -> Double {
        switch state {
        case .queued: -.infinity
        case .connecting: -.greatestFiniteMagnitude
        case .idle(let seconds): -seconds
        case .busy: 1
        case .draining: 2
        }
    }
}
