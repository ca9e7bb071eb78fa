package import ClusterProtocol
internal import Foundation
internal import Media
package import Messaging
internal import SourceAccess
internal import Synchronization

/// What a slot's process is told when it is started.
package struct SlotConfiguration: Sendable {
    package var endpoint: String
    package var node: String
    package var index: Int
    /// Rises with every process of the slot.
    package var incarnation: String
    package var predecessor: ProcessEnd?
    package var version: String
    package var threads: Int
    /// `nil` where the coordinator asks for no key.
    package var security: ClientSecurity?
    /// The coordinator does not outlive its slots, nor they it: nothing has to be kept until it is acknowledged.
    package var isPrivate: Bool

    package init(
        endpoint: String, node: String, index: Int, incarnation: String, predecessor: ProcessEnd?, version: String,
        threads: Int, security: ClientSecurity? = nil, isPrivate: Bool = false
    ) {
        self.isPrivate = isPrivate
        self.security = security
        self.endpoint = endpoint
        self.node = node
        self.index = index
        self.incarnation = incarnation
        self.predecessor = predecessor
        self.version = version
        self.threads = threads
    }
}

/// One slot: a child process that runs one lease at a time.
package enum Slot {
    /// Serves until the coordinator says to stop or the supervisor goes away. Blocks: call it on a thread of its own.
    package static func run(_ configuration: SlotConfiguration) throws(Failure) -> ExitCode {
        let end = SlotEnd()
        let context: MessageContext
        let endpoint: DealerEndpoint<SlotHandler>
        do {
            context = try MessageContext()
            var options = SocketOptions()
            options.reportsConnections = !configuration.isPrivate
            endpoint = try DealerEndpoint(
                context: context, address: configuration.endpoint, security: configuration.security, options: options,
                name: "weft-slot", tick: .milliseconds(500)
            ) { sender in SlotHandler(configuration, sender: sender, end: end) }
        } catch {
            throw Failure(
                .transport, "The slot cannot connect to \(configuration.endpoint): \(error)",
                advice: "Check that the coordinator runs.", retry: .retry, fault: .environment, exitCode: .unreachable)
        }
        SupervisorWatch.start { order in
            switch order {
            case .drain: endpoint.perform { $0.drain() }
            case .end:
                // The lease goes elsewhere at once, and not when the silence has lasted. With its own export it ends.
                guard !configuration.isPrivate, endpoint.perform({ $0.leave(.stopped, .temporary) }) else {
                    return end.stop(.temporary)
                }
                Thread.sleep(forTimeInterval: 0.5)
                end.stop(.temporary)
            }
        }
        let code = end.wait()
        endpoint.stop()
        return code
    }
}

/// Lets the slot's main thread wait for its end.
private final class SlotEnd: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let code = Mutex<ExitCode?>(nil)

    func stop(_ exit: ExitCode) {
        code.withLock { if $0 == nil { $0 = exit } }
        semaphore.signal()
    }

    func wait() -> ExitCode {
        semaphore.wait()
        return code.withLock { $0 ?? .done }
    }
}

/// The supervisor holds the other end of standard input: when that closes, it is gone, and so must its slots. A byte asks the
/// slot to take no further lease.
private enum SupervisorWatch {
    enum Order { case drain, end }

    static func start(_ obey: @escaping @Sendable (Order) -> Void) {
        let thread = Thread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { break }
                obey(.drain)
            }
            obey(.end)
        }
        thread.name = "weft-watch"
        thread.start()
    }
}

/// The slot's side of the protocol. Lives on the endpoint's thread; leases run on their own.
private final class SlotHandler: EndpointHandler {
    private let configuration: SlotConfiguration
    private let sender: DealerSender
    private let end: SlotEnd
    private let status = StatusPipe()
    private var run: LeaseRun?
    private let leases: LeaseThread
    private var isDraining = false
    private var lastSent = LeaseGauge.now
    private var heartbeat: UInt64 = 2_000_000_000
    private var lastHeard = LeaseGauge.now
    private var liveness: UInt64 = 60_000_000_000
    /// When the last hello went out that was not answered.
    private var helloSent: UInt64?
    /// The lease that the last hello found at work: the answer is about this one and none that came since.
    private var offered: LeaseName?
    private static let helloPatience: UInt64 = 5_000_000_000

    init(_ configuration: SlotConfiguration, sender: DealerSender, end: SlotEnd) {
        self.configuration = configuration
        self.sender = sender
        self.end = end
        leases = LeaseThread(sender)
        sayHello()
    }

    private func sayHello() {
        let now = LeaseGauge.now
        // A coordinator that came back asks once for every message of a stranger; one answer is enough.
        if let helloSent, now &- helloSent < Self.helloPatience { return }
        helloSent = now
        let running = leases.isIdle ? nil : run
        offered = running?.lease.lease
        let resume = running?.pause() == true ? running?.lease.lease : nil
        let hello = Hello(
            role: .slot, node: configuration.node, slot: configuration.index, incarnation: configuration.incarnation,
            pid: getpid(), host: ProcessInfo.processInfo.hostName, version: configuration.version,
            encoders: EncoderOffers.all, cores: ProcessInfo.processInfo.processorCount,
            memory: Int64(clamping: ProcessInfo.processInfo.physicalMemory), threads: configuration.threads,
            predecessor: configuration.predecessor, resume: resume, streams: true)
        send(.hello(hello))
    }

    private func send(_ message: WorkerMessage) {
        lastSent = LeaseGauge.now
        do {
            try sender.send(message)
        } catch {
            // A queue that is over its limit or stopped: there is nobody to serve any more.
            end.stop(.unreachable)
        }
    }

    func received(_ message: ReceivedMessage) {
        lastHeard = LeaseGauge.now
        guard let first = message.frames.first else { return }
        let payload = Array(message.frames.dropFirst())
        let decoded: CoordinatorMessage? = first.withUnsafeBytes { bytes in
            try? MessageCodec.decode(header: bytes, payload: payload.map(\.count))
        }
        switch decoded {
        case .welcome(let welcome): welcomed(welcome)
        case .lease(let lease): start(lease)
        case .credit(let credit): if run?.lease.lease == credit.lease { run?.add(credit: credit.bytes) }
        case .revoke(let revoke): if run?.lease.lease == revoke.lease { run?.cancel() }
        case .accepted(let accepted): if run?.lease.lease == accepted.lease { run?.accept() }
        case .identify: sayHello()
        case .refused(let refused): leave(because: refused.failure)
        case .drain: drain()
        case .shutdown: end.stop(.done)
        case .prove(let request): leases.start(request)
        case .source(let chunk): if run?.lease.lease == chunk.lease { run?.receive(chunk, payload) }
        case nil: break
        }
    }

    func stopped(_ error: MessagingError?) {
        // Nothing can be heard or said any more; the supervisor starts another process.
        if error != nil { end.stop(.unreachable) }
    }

    func connection(_ event: ConnectionEvent) {
        switch event.kind {
        case .connected: status.tell(.connected)
        case .disconnected: status.tell(.disconnected)
        case .handshakeFailed, .handshakeBroken: break
        case .unauthorized:
            leave(
                because: Failure(
                    .transport, "The coordinator does not allow this key.",
                    advice: "Make one with `weft keys new --role worker` on the coordinator's machine.",
                    fault: .settings, exitCode: .notPermitted))
        }
    }

    private func leave(because failure: Failure) {
        FileHandle.standardError.write(Data((failure.message + "\n").utf8))
        end.stop(failure.exitCode)
    }

    private func welcomed(_ welcome: Welcome) {
        helloSent = nil
        heartbeat = UInt64(max(0.1, welcome.heartbeatSeconds) * 1e9)
        leases.streams.store(welcome.streams, ordering: .releasing)
        liveness = UInt64(max(1, welcome.livenessSeconds) * 1e9)
        if let run, !leases.isIdle {
            // A coordinator that was only slow has granted it before it read the hello: there is nothing to take up again.
            guard run.lease.lease == offered else { return }
            if let resume = welcome.resume, resume.lease == run.lease.lease, resume.offset == 0 {
                run.resume(credit: resume.credit)
            } else {
                // The coordinator has no use for it any more, or it is too large to be sent again.
                let failure = Failure(
                    .transport, "The connection broke, and the lease could not be taken up again.", retry: .retry,
                    fault: .environment)
                send(.failed(LeaseFailed(lease: run.lease.lease, failure: failure)))
                run.cancel()
            }
        } else if !isDraining {
            send(.ready(Ready(source: leases.heldSource)))
        }
    }

    func drain() {
        isDraining = true
        leases.drain()
        if leases.isIdle { leave(.drained, .done) }
    }

    /// Says goodbye, and ends the process.
    func leave(_ reason: Goodbye.Reason, _ code: ExitCode) {
        noteEnd()
        send(.goodbye(Goodbye(reason: reason, lease: leases.isIdle ? nil : run?.lease.lease)))
        end.stop(code)
    }

    /// Tells how the last lease ended, once.
    private func noteEnd() {
        guard let run, leases.isIdle else { return }
        tell(run, run.ending)
        self.run = nil
    }

    private func tell(_ run: LeaseRun, _ words: String) {
        status.tell(.lease("segment \(run.lease.segment.index) of \(run.lease.lease.job) \(words)"))
    }

    // MARK: Leases

    private func start(_ lease: Lease) {
        guard leases.isIdle else {
            let busy = Failure(
                .transport, "The slot was given a lease while it holds another.", retry: .retry, fault: .environment)
            send(.failed(LeaseFailed(lease: lease.lease, failure: busy)))
            return
        }
        noteEnd()
        let run = LeaseRun(lease, sender: sender, awaitsAcceptance: !configuration.isPrivate)
        self.run = run
        tell(run, "begins")
        status.report(lease.lease, stall: lease.stallSeconds, work: 0)
        leases.start(run)
    }

    func tick() {
        if let run, !leases.isIdle {
            status.report(run.lease.lease, stall: run.lease.stallSeconds, work: run.work)
            send(
                .progress(
                    Progress(
                        lease: run.lease.lease, frames: run.gauge.frameCount, ticks: run.gauge.position,
                        stageSeconds: run.gauge.seconds, bytes: run.gauge.byteCount, bytesRead: run.gauge.bytesReadCount
                    )))
            return
        }
        noteEnd()
        status.report(nil, stall: 0, work: 0)
        if isDraining { return leave(.drained, .done) }
        let now = LeaseGauge.now
        if now &- lastSent > heartbeat { send(.heartbeat(Heartbeat())) }
        if now &- lastHeard > liveness { sayHello() }
    }
}
