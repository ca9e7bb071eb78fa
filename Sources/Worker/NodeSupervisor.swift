package import ClusterProtocol
internal import Foundation
internal import Synchronization

/// Starts a node's slots, one child process each, watches them, kills those that hang and replaces those that end.
package final class NodeSupervisor: Sendable {
    package struct Configuration: Sendable {
        /// Program whose `slot` command is the child.
        package var executable: String
        package var endpoint: String
        package var node: String
        package var slots: Int
        /// Encoder threads that a slot may use.
        package var threads: Int
        /// The key to show the coordinator; `nil` where it asks for none.
        package var keyFile: String?
        /// The coordinator is this process: it does not come back without its slots.
        package var isPrivate: Bool

        package init(
            executable: String, endpoint: String, node: String, slots: Int, threads: Int = 1, keyFile: String? = nil,
            isPrivate: Bool = false
        ) {
            self.isPrivate = isPrivate
            self.threads = threads
            self.keyFile = keyFile
            self.executable = executable
            self.endpoint = endpoint
            self.node = node
            self.slots = slots
        }
    }

    package enum Event: Sendable {
        /// A slot's process ended and another takes its place.
        case replaced(slot: Int, ProcessEnd)
        /// No process of any slot lives long enough to work.
        case unusable(Failure)
        /// Every slot has left after `drain`.
        case drained
        /// Something for the log.
        case noted(slot: Int, SlotNote)
    }

    private let configuration: Configuration
    private let stopping = Atomic<Bool>(false)
    private let draining = Atomic<Bool>(false)
    private let done = DispatchSemaphore(value: 0)
    private let rounds = Atomic<Int>(0)
    private let report: @Sendable (Event) -> Void

    /// - Parameter report: called on the supervisor's thread.
    package init(_ configuration: Configuration, report: @escaping @Sendable (Event) -> Void) {
        self.configuration = configuration
        self.report = report
        let thread = Thread { [self] in
            var loop = SupervisorLoop(configuration, report)
            var isDrained = false
            while !stopping.load(ordering: .acquiring) {
                if draining.load(ordering: .acquiring) { loop.drain() }
                loop.step()
                rounds.wrappingAdd(1, ordering: .relaxed)
                if loop.isDrained, !isDrained {
                    isDrained = true
                    report(.drained)
                }
            }
            loop.stop()
            done.signal()
        }
        thread.name = "weft-node"
        thread.start()
    }

    /// Rises, many times a second, as long as the supervisor's thread looks after its slots.
    package var pulse: Int { rounds.load(ordering: .relaxed) }

    /// Lets every slot finish its lease and leave; none is replaced.
    package func drain() { draining.store(true, ordering: .releasing) }

    /// Ends every slot, by force where it takes longer than a second, and waits for that. A process that even force does not end
    /// at once (it hangs in a driver or on a dead network disk) is left to the system. Call once.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        done.wait()
    }
}

/// The state of the supervisor's thread.
private struct SupervisorLoop {
    private let configuration: NodeSupervisor.Configuration
    private let report: @Sendable (NodeSupervisor.Event) -> Void
    private var places: [Place]

    private struct Place {
        var child: SlotChild?
        var predecessor: ProcessEnd?
        /// Processes in a row that ended within a second of their start.
        var earlyEnds = 0
        var restart: UInt64 = 0
        /// The slot was told to leave and did: it is not replaced.
        var hasLeft = false
    }

    /// A node of whose slots each has lost this many processes at once in a row is of no use, and says why.
    private static let patience = 6
    private var isUnusable = false

    init(_ configuration: NodeSupervisor.Configuration, _ report: @escaping @Sendable (NodeSupervisor.Event) -> Void) {
        self.configuration = configuration
        self.report = report
        places = Array(repeating: Place(), count: configuration.slots)
    }

    private var isDraining = false

    var isDrained: Bool { places.allSatisfy { $0.child == nil && ($0.hasLeft || isDraining) } }

    mutating func drain() {
        guard !isDraining else { return }
        isDraining = true
        for place in places { place.child?.drain() }
    }

    mutating func step() {
        if !isDraining { for index in places.indices { start(index) } }
        wait(milliseconds: 50)
        for index in places.indices { watch(index) }
    }

    /// Waits for a child to write or end.
    private func wait(milliseconds: Int32) {
        var descriptors = places.compactMap { $0.child }.flatMap { [$0.status.descriptor, $0.errors.descriptor] }
            .filter { $0 >= 0 }.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        // A closed pipe is ready for ever: the process behind it is about to be reaped.
        if descriptors.contains(where: { $0.revents & Int16(POLLHUP) != 0 }) { usleep(10_000) }
    }

    private mutating func start(_ index: Int) {
        guard places[index].child == nil, !places[index].hasLeft, LeaseGauge.now >= places[index].restart else {
            return
        }
        let incarnation = UInt64(clock_time())
        var environment = ProcessInfo.processInfo.environment
        environment["WEFT_PREDECESSOR"] = places[index].predecessor.flatMap { end in
            (try? JSONEncoder().encode(end)).map { String(decoding: $0, as: UTF8.self) }
        }
        // What the codec says last is worth more to a user than registers; who wants them sets the variable.
        environment["SWIFT_BACKTRACE"] = environment["SWIFT_BACKTRACE"] ?? "enable=no"
        let arguments =
            [
                "slot", "--connect", configuration.endpoint, "--index", String(index), "--node", configuration.node,
                "--incarnation", String(incarnation), "--threads", String(configuration.threads),
            ] + (configuration.keyFile.map { ["--key", $0] } ?? []) + (configuration.isPrivate ? ["--private"] : [])
        do throws(Failure) {
            places[index].child = try SlotChild(
                executable: configuration.executable, arguments: arguments, environment: environment,
                incarnation: incarnation)
        } catch {
            endedEarly(index, failure: error)
        }
    }

    /// Nanoseconds since 1970: rises with every process of a slot, also across restarts of the node.
    private func clock_time() -> Int64 {
        Int64(Date().timeIntervalSince1970 * 1e9)
    }

    private mutating func watch(_ index: Int) {
        guard places[index].child != nil else { return }
        for note in places[index].child?.readPipes() ?? [] { report(.noted(slot: index, note)) }
        places[index].child?.killIfStalled()
        guard let end = places[index].child?.reap(), let child = places[index].child else { return }
        places[index].child = nil
        places[index].predecessor = end
        places[index].hasLeft = end.cause == .exited && end.code == ExitCode.done.rawValue
        if isDraining || places[index].hasLeft { return }
        if LeaseGauge.now &- child.started < 1_000_000_000 {
            endedEarly(
                index,
                failure: Failure(
                    .resources, "The slot process ends at once (\(Self.words(end))).",
                    advice: "Run `weft capabilities`; the codec's words tell more.", retry: .elsewhere,
                    fault: .environment,
                    log: end.log, exitCode: .temporary))
        } else {
            places[index].earlyEnds = 0
        }
        report(.replaced(slot: index, end))
    }

    private static func words(_ end: ProcessEnd) -> String {
        switch end.cause {
        case .exited: "exit status \(end.code)"
        case .signalled: "signal \(end.code)"
        case .stalled: "it hung and was killed"
        case .unstarted: String(cString: strerror(end.code))
        }
    }

    private mutating func endedEarly(_ index: Int, failure: Failure) {
        places[index].earlyEnds += 1
        let delay = UInt64(100_000_000) << UInt64(min(6, places[index].earlyEnds))
        places[index].restart = LeaseGauge.now &+ delay
        guard !isUnusable, places.allSatisfy({ $0.earlyEnds >= Self.patience }) else { return }
        isUnusable = true
        report(.unusable(failure))
    }

    /// Nanoseconds to wait for processes that were killed.
    private static let longestWait: UInt64 = 6_000_000_000

    mutating func stop() {
        for index in places.indices { places[index].child?.release() }
        let start = LeaseGauge.now
        while places.contains(where: { $0.child != nil }) {
            let waited = LeaseGauge.now &- start
            if waited > Self.longestWait { break }
            if waited > 1_000_000_000 {
                for place in places { if let child = place.child { kill(child.pid, SIGKILL) } }
            }
            for index in places.indices where places[index].child?.reap() != nil { places[index].child = nil }
            if places.contains(where: { $0.child != nil }) { usleep(5_000) }
        }
    }
}
