internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Messaging
internal import Scheduling
internal import SegmentPlan
internal import SourceAccess
internal import Stitching

/// The coordinator's side of the protocol: turns messages into the scheduler's events and its actions into messages.
///
/// Lives on the endpoint's thread. What may block on the disk runs on the storage thread and comes back as an event.
final class CoordinatorHandler: EndpointHandler {
    let sender: RouterSender
    let link: CoordinatorLink
    let storage: SerialThread
    let store: StoreBox
    let keeper: ResultKeeper
    let streams: SourceStreams
    let options: Options
    var desk: (any CoordinatorDesk)?
    var scheduler: Scheduler
    var peers = PeerTable()
    var jobs: [JobID: JobRuntime] = [:]
    var leases: [Fence: OpenLease] = [:]
    var tallies: [SlotPlace: WorkerTally] = [:]
    var proofs = EncoderProofs()
    /// Slots that came back with leases of jobs that are just being planned again.
    var heldHellos: [PeerIdentity: Hello] = [:]
    var nodeKeys: [String: CurvePublicKey] = [:]
    /// The format and table of results that the scheduler is just deciding on.
    var pendingPayload: [Fence: [MessageFrame]] = [:]
    /// Those of results that are being stored.
    var parameterSets: [Fence: ParameterSets] = [:]
    /// Segments that were found good, and not yet written down as such.
    var checked: [(job: JobID, segment: Int, lease: Fence)] = []
    /// Results that are being made durable, and slots that wait for that before they get more work.
    var storing = 0
    var waiting: [WorkerID] = []
    /// Since when no result could be stored, and what is in the way.
    var storageTrouble: (since: UInt64, failure: Failure)?
    let started = String(Clock.wall, radix: 36)

    /// What tells a cluster of many machines from the slots of one.
    struct Options: Sendable {
        /// Slots show that they encode alike before their results count.
        var provesEncoders = false
        /// Seconds for which somebody may free space before the job ends; `nil` for as long as it takes.
        var storagePatience: Double?
        /// Looks at what slots return before it counts; `nil` where the slots are this machine's own.
        var checks: SegmentChecks?
        /// What a key may do now; `nil` for one that was revoked since it connected.
        var authorize: (@Sendable (CurvePublicKey) -> PeerRole?)?
        /// Called on the endpoint's thread.
        var makeDesk: (@Sendable (CoordinatorHandler) -> any CoordinatorDesk)?
    }

    /// Seconds of silence after which a slot is taken for lost: five heartbeats. Its segment goes elsewhere; if it comes back with
    /// its work before that is done, the work counts.
    static let livenessSeconds = 10.0
    static let heartbeatSeconds = 2.0

    /// A disk that is slower than the slots holds them up beyond this many results, so that they do not pile up in memory.
    static let mostStoring = 32

    init(
        sender: RouterSender, link: CoordinatorLink, storage: SerialThread, store: StoreBox, firstLease: UInt64,
        options: Options = Options()
    ) {
        self.sender = sender
        self.link = link
        self.storage = storage
        self.store = store
        self.options = options
        keeper = ResultKeeper(storage, store: store)
        streams = SourceStreams(sender) { fence, trouble in link.perform { $0.settle(fence, trouble) } }
        scheduler = Scheduler(firstLease: Fence(firstLease))
        desk = options.makeDesk?(self)
    }

    /// Monotonic nanoseconds, without the time for which this process was stopped (Ctrl-Z, a debugger): slots went on
    /// meanwhile, and their silence is not theirs.
    var clock: UInt64 { Clock.now &- suspended }
    private var suspended: UInt64 = 0
    private var lastTick = Clock.now
    private static let longestPause: UInt64 = 3_000_000_000

    var now: Instant { Instant(nanoseconds: Int64(clamping: clock)) }

    /// The endpoint is there: jobs of before the last start may go on.
    func begin() { desk?.begin() }

    /// The coordinator stops: what is only in memory is written.
    func end() {
        writeChecked()
        desk?.end()
    }

    // MARK: Jobs

    /// `bound` are segments that are for one node only: they are bound while the job is held, before any of it is leased.
    func submit(_ job: JobRuntime, spec: JobSpec, progress: JobProgress, bound: [SegmentOverride] = []) {
        jobs[job.id] = job
        guard !bound.isEmpty else { return handle(.jobSubmitted(spec, progress: progress)) }
        var held = progress
        held.state = .paused
        handle(.jobSubmitted(spec, progress: held))
        for override in bound {
            let open = override.segments.filter { progress.finished[$0] == nil }
            handle(.jobRetried(job.id, RetryRequest(segments: open, node: override.node)))
        }
        if progress.state != .paused { handle(.jobResumed(job.id)) }
    }

    /// The job is there, or will not be: slots that waited with their leases are answered.
    func releaseHellos(of id: JobID) {
        for (identity, hello) in heldHellos where hello.resume?.job == id.text { greet(hello, identity) }
    }

    /// Tells the node's slots to leave once their leases are done.
    func drainNode(_ node: String) {
        for (worker, identity) in peers.workers where worker.node == node { send(.drain(Drain()), to: identity) }
    }

    /// Ends whatever of the job still runs and lets go of it.
    func forget(_ id: JobID) {
        if scheduler.jobStatus(id)?.state.isOver == false { handle(.jobCancelled(id)) }
        handle(.jobRemoved(id))
        if let job = jobs.removeValue(forKey: id) { streams.forget(job.source) }
        proofs.forget(id)
    }

    // MARK: Time

    func tick() {
        let pause = Clock.now &- lastTick
        if pause > Self.longestPause { suspended += pause }
        lastTick = Clock.now
        if let deadline = scheduler.nextDeadline, deadline < now || deadline == now { handle(.tick) }
        if let trouble = storageTrouble, let patience = options.storagePatience,
            Double(clock) - Double(trouble.since) > patience * 1e9
        {
            for job in jobs.values { job.board.fail(trouble.failure) }
        }
        loseSilentSlots()
        streams.tick()
        publish()
        writeChecked()
        desk?.tick()
    }

    /// Seconds since the slot was last heard; `nil` where it is not connected.
    func silence(of worker: WorkerID) -> Double? {
        guard let identity = peers[worker], let peer = peers[identity] else { return nil }
        return Double(clock &- peer.heard) / 1e9
    }

    private func loseSilentSlots() {
        let (now, silence) = (clock, UInt64(Self.livenessSeconds * 1e9))
        guard now > silence else { return }
        for (identity, peer) in peers.silent(since: now - silence) {
            let words = "Nothing was heard from the slot for \(Int(Self.livenessSeconds)) s."
            let advice = "Look whether \(peer.worker.node) runs, and at the network between it and the coordinator."
            handle(
                .workerLost(
                    peer.worker, Failure(.transport, words, advice: advice, retry: .elsewhere, fault: .environment)))
            forget(identity)
        }
    }

    func forget(_ identity: PeerIdentity) {
        desk?.peerLeft(identity)
        heldHellos[identity] = nil
        guard let peer = peers.remove(identity) else { return }
        waiting.removeAll { $0 == peer.worker }
    }

    func stopped(_ error: MessagingError?) {
        streams.close()
        // No result comes any more: whoever waits for one must not wait for ever.
        let failure =
            error.map {
                Failure(
                    .transport, "The coordinator's endpoint ended: \($0)",
                    advice: "Run the same command with --resume; finished segments are kept.", retry: .retry,
                    fault: .environment, exitCode: .temporary)
            } ?? Failure(.cancelled, "The coordinator was stopped.", retry: .retry, exitCode: .interrupted)
        for job in jobs.values { job.board.fail(failure) }
    }

    func undeliverable(_ frames: [MessageFrame], to peer: PeerIdentity?, error: MessagingError) {
        guard let peer else { return }
        let worker = peers[peer]?.worker
        forget(peer)
        // A slot that has come back over another connection is not lost.
        guard let worker, peers[worker] == nil else { return }
        handle(
            .workerLost(
                worker,
                Failure(
                    .transport, "The slot cannot be reached: its connection is gone.", retry: .elsewhere,
                    fault: .environment, log: ["\(error)"])))
    }

    func send(_ message: CoordinatorMessage, to identity: PeerIdentity) {
        try? sender.send(message, to: identity)
    }

    // MARK: Showing

    private func publish() {
        var running: [JobID: [OpenLease]] = [:]
        for lease in leases.values { running[lease.grant.job, default: []].append(lease) }
        for job in jobs.values {
            guard let status = scheduler.jobStatus(job.id) else { continue }
            let leases = running[job.id] ?? []
            var snapshot = ExportSnapshot()
            snapshot.framesDone = job.acceptedFrames
            snapshot.bytes = job.acceptedBytes
            for lease in leases where !lease.grant.isSpeculative {
                snapshot.framesDone += lease.frames
                snapshot.bytes += lease.bytes
            }
            snapshot.segmentsDone = status.counts.finished
            snapshot.segmentsTotal = status.counts.total
            snapshot.slotsBusy = leases.count { $0.result == nil }
            snapshot.slotsTotal = peers.count
            snapshot.remaining = status.predictedEnd.map { max(0, ($0 - now).seconds) }
            job.telemetry.publish(snapshot)
        }
    }

    /// The account of a job's attempts, for the report.
    func summarize(_ id: JobID) {
        guard let job = jobs[id] else { return }
        var summary = LeaseSummary()
        summary.attempts = job.earlierAttempts + (scheduler.jobStatus(id)?.leases ?? 0)
        summary.workers = job.workers.count
        summary.sourceAccess = job.sourceAccess
        summary.encodeSeconds = job.encodeSeconds
        summary.stages = job.stages
        summary.warnings = job.telemetry.repairs + job.warnings
        summary.checks = job.checks
        job.telemetry.publish(summary)
    }
}

extension RouterSender {
    /// Encodes and queues a message.
    func send(_ message: CoordinatorMessage, to peer: PeerIdentity) throws {
        try send([MessageFrame(try MessageCodec.encode(message))], to: peer)
    }
}
