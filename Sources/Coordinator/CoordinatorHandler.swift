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
    private let keeper: ResultKeeper
    private let options: Options
    private var desk: (any CoordinatorDesk)?
    private(set) var scheduler: Scheduler
    private var peers: [PeerIdentity: Peer] = [:]
    private(set) var identities: [WorkerID: PeerIdentity] = [:]
    private(set) var jobs: [JobID: JobRuntime] = [:]
    private(set) var leases: [Fence: OpenLease] = [:]
    private(set) var tallies: [SlotPlace: WorkerTally] = [:]
    private var proofs = EncoderProofs()
    /// Slots that came back with leases of jobs that are just being planned again.
    private var heldHellos: [PeerIdentity: Hello] = [:]
    private var nodeKeys: [String: CurvePublicKey] = [:]
    /// Results that are being made durable, and slots that wait for that before they get more work.
    private var storing = 0
    private var waiting: [WorkerID] = []
    /// Since when no result could be stored, and what is in the way.
    private var storageTrouble: (since: UInt64, failure: Failure)?
    private let started = String(Clock.wall, radix: 36)

    /// A slot that says hello, and when it was last heard.
    private struct Peer {
        var worker: WorkerID
        var heard: UInt64
    }

    /// What tells a cluster of many machines from the slots of one.
    struct Options: Sendable {
        /// Slots show that they encode alike before their results count.
        var provesEncoders = false
        /// Seconds for which somebody may free space before the job ends; `nil` for as long as it takes.
        var storagePatience: Double?
        /// What a key may do now; `nil` for one that was revoked since it connected.
        var authorize: (@Sendable (CurvePublicKey) -> PeerRole?)?
        /// Called on the endpoint's thread.
        var makeDesk: (@Sendable (CoordinatorHandler) -> any CoordinatorDesk)?
    }

    /// Seconds of silence after which a slot is taken for lost; a node kills its own hung slots sooner.
    private static let livenessSeconds = 20.0
    private static let heartbeatSeconds = 2.0
    /// Bytes of a lease's samples that may be on the way.
    private static let credit: Int64 = 8 << 20

    /// A disk that is slower than the slots holds them up beyond this many results, so that they do not pile up in memory.
    private static let mostStoring = 32

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
        scheduler = Scheduler(firstLease: Fence(firstLease))
        desk = options.makeDesk?(self)
    }

    /// Monotonic nanoseconds, without the time for which this process was stopped (Ctrl-Z, a debugger): slots went on
    /// meanwhile, and their silence is not theirs.
    private var clock: UInt64 { Clock.now &- suspended }
    private var suspended: UInt64 = 0
    private var lastTick = Clock.now
    private static let longestPause: UInt64 = 3_000_000_000

    var now: Instant { Instant(nanoseconds: Int64(clamping: clock)) }

    /// The endpoint is there: jobs of before the last start may go on.
    func begin() { desk?.begin() }

    /// The coordinator stops: what is only in memory is written.
    func end() { desk?.end() }

    // MARK: Jobs

    func submit(_ job: JobRuntime, spec: JobSpec, progress: JobProgress) {
        jobs[job.id] = job
        handle(.jobSubmitted(spec, progress: progress))
    }

    /// The job is there, or will not be: slots that waited with their leases are answered.
    func releaseHellos(of id: JobID) {
        for (identity, hello) in heldHellos where hello.resume?.job == id.text { greet(hello, identity) }
    }

    /// Some segments are for one node only.
    func submit(_ job: JobRuntime, spec: JobSpec, progress: JobProgress, bound: [SegmentOverride]) {
        var held = progress
        held.state = .paused
        submit(job, spec: spec, progress: held)
        for override in bound {
            let open = override.segments.filter { progress.finished[$0] == nil }
            handle(.jobRetried(job.id, RetryRequest(segments: open, node: override.node)))
        }
        if progress.state != .paused { handle(.jobResumed(job.id)) }
    }

    /// Tells the node's slots to leave once their leases are done.
    func drainNode(_ node: String) {
        for (worker, identity) in identities where worker.node == node { send(.drain(Drain()), to: identity) }
    }

    /// Ends whatever of the job still runs and lets go of it.
    func forget(_ id: JobID) {
        if scheduler.jobStatus(id)?.state.isOver == false { handle(.jobCancelled(id)) }
        handle(.jobRemoved(id))
        jobs[id] = nil
        proofs.forget(id)
    }

    // MARK: Messages

    func received(_ message: ReceivedMessage) {
        guard let identity = message.peer, let header = message.frames.first else { return }
        let payload = Array(message.frames.dropFirst())
        let decoded: InboundMessage
        do {
            decoded = try header.withUnsafeBytes { (bytes) throws(ProtocolError) in
                try MessageCodec.decode(header: bytes, payload: payload.map(\.count))
            }
        } catch {
            send(.refused(Refused(error.failure)), to: identity)
            return
        }
        guard isAllowed(message) else {
            return send(.refused(Refused(.notPermitted("This key was revoked."))), to: identity)
        }
        switch decoded {
        case .client(let request):
            if let desk { return desk.received(request, from: identity, role: message.role) }
            send(
                .refused(Refused(.notPermitted("This coordinator serves one export and takes no requests."))),
                to: identity)
        case .worker(let decoded):
            guard message.role == nil || message.role == .worker else {
                return send(.refused(Refused(.notPermitted("This key is not a worker's."))), to: identity)
            }
            if case .hello(let hello) = decoded {
                guard mayBe(hello.node, message.publicKey) else {
                    let words = "Another key works under the name \(hello.node)."
                    return send(.refused(Refused(.notPermitted(words))), to: identity)
                }
                return greet(hello, identity)
            }
            guard let worker = peers[identity]?.worker else { return send(.identify(Identify()), to: identity) }
            peers[identity]?.heard = clock
            handle(decoded, payload, from: worker, identity)
        }
    }

    /// A key that was revoked after it connected is refused from then on.
    private func isAllowed(_ message: ReceivedMessage) -> Bool {
        guard let authorize = options.authorize, let role = message.role, let key = message.publicKey else {
            return true
        }
        return authorize(key) == role
    }

    /// A key stands for the node that first came with it: another key cannot take the node's name while it is there.
    private func mayBe(_ node: String, _ key: CurvePublicKey?) -> Bool {
        guard let key else { return true }
        let isThere = identities.keys.contains { $0.node == node }
        if isThere, let known = nodeKeys[node], known != key { return false }
        nodeKeys[node] = key
        return true
    }

    private func greet(_ hello: Hello, _ identity: PeerIdentity) {
        guard hello.role == .slot else { return }
        if let resume = hello.resume, desk?.isPlanning(JobID(resume.job)) == true {
            // Its lease is known once the job is there again; the slot keeps its work until then.
            heldHellos[identity] = hello
            return
        }
        heldHellos[identity] = nil
        let worker = WorkerID(node: hello.node, slot: hello.slot, incarnation: UInt64(hello.incarnation) ?? 0)
        // A slot that starts again has a new socket; nothing more comes from the one before.
        for (old, peer) in peers where peer.worker.node == worker.node && peer.worker.slot == worker.slot {
            if old != identity { forget(old) }
        }
        // One that asks again on the same socket (it was not spoken to for long) has missed nothing: if it is idle, it says so.
        let isKnown = peers[identity]?.worker == worker
        peers[identity] = Peer(worker: worker, heard: clock)
        identities[worker] = identity
        tallies[SlotPlace(worker), default: WorkerTally()].host = hello.host
        if !isKnown {
            proofs.askAgain(worker)
            handle(
                .workerJoined(
                    worker, Capabilities(encoders: Set(hello.encoders.map(\.name))),
                    holding: hello.resume.map { Fence($0.fence) }, predecessor: Failure(hello.predecessor)))
        }
        let resumption = hello.resume.flatMap { resume($0, by: worker) }
        send(
            .welcome(
                Welcome(
                    coordinator: started, version: hello.version, heartbeatSeconds: Self.heartbeatSeconds,
                    livenessSeconds: Self.livenessSeconds, resume: resumption)), to: identity)
    }

    /// The slot says what it still works on: where its bytes go on, or nothing if the lease counts no longer.
    ///
    /// What had arrived before the connection broke is dropped and sent again: chunks may be missing anywhere in it.
    private func resume(_ name: LeaseName, by worker: WorkerID) -> Welcome.Resume? {
        let fence = Fence(name.fence)
        guard let lease = leases[fence], lease.grant.worker == worker, lease.grant.job.text == name.job,
            lease.result == nil, let job = jobs[lease.grant.job]
        else { return nil }
        drop(fence)
        leases[fence] = OpenLease(lease.grant, spool: job.spool)
        if proves(lease), let identity = identities[worker], proofs.begin(worker, job.id) {
            send(.prove(Prove(job: job.id.text, recipe: job.recipe)), to: identity)
        }
        return Welcome.Resume(lease: name, offset: 0, credit: Self.credit)
    }

    private func handle(
        _ message: WorkerMessage, _ payload: [MessageFrame], from worker: WorkerID, _ identity: PeerIdentity
    ) {
        switch message {
        case .ready:
            guard storing < Self.mostStoring else {
                if !waiting.contains(worker) { waiting.append(worker) }
                return
            }
            handle(.workerReady(worker))
        case .progress(let progress):
            let fence = Fence(progress.lease.fence)
            guard leases[fence]?.grant.worker == worker else { return revoke(progress.lease, "stale", identity) }
            leases[fence]?.progress = progress
            handle(.leaseProgressed(fence, worker, frames: progress.frames))
        case .chunk(let chunk): receive(chunk, payload, from: worker, identity)
        case .result(let result): receive(result, payload, from: worker, identity)
        case .failed(let failed): receive(failed, from: worker)
        case .fingerprint(let answer): receive(answer, from: worker)
        case .goodbye:
            handle(.workerLost(worker, Failure(.cancelled, "The slot left.", retry: .retry, fault: .environment)))
            forget(identity)
            // A drained node that comes back later is wanted again.
            if !identities.keys.contains(where: { $0.node == worker.node }) {
                handle(.nodeDrained(worker.node, false))
            }
        case .heartbeat, .sourceCredit, .hello: break
        }
    }

    private func receive(_ failed: LeaseFailed, from worker: WorkerID) {
        let fence = Fence(failed.lease.fence)
        guard failed.isUnfit, let lease = leases[fence], lease.grant.worker == worker, let job = jobs[lease.grant.job]
        else { return handle(.leaseFailed(fence, worker, failed.failure)) }
        // The node cannot open the source. Where it is the source that changed, no node can.
        let (link, id, source) = (link, job.id, job.source)
        storage.perform {
            let change = source.changeSincePlanned()
            link.perform { handler in
                if let change { return handler.fail(id, change) }
                handler.handle(.leaseFailed(fence, worker, failed.failure))
                handler.handle(.nodeBarred(id, node: worker.node, failed.failure))
            }
        }
    }

    /// The job cannot go on, whoever works on it.
    private func fail(_ id: JobID, _ failure: Failure) { jobs[id]?.board.fail(failure) }

    private func receive(_ answer: FingerprintAnswer, from worker: WorkerID) {
        let id = JobID(answer.job)
        guard let job = jobs[id] else { return }
        switch proofs.take(answer, from: worker, expected: job.fingerprint) {
        case .first:
            jobs[id]?.fingerprint = answer.hash
            desk?.proved(id, fingerprint: answer.hash)
        case .equal: break
        case .different(let failure): handle(.nodeBarred(id, node: worker.node, failure))
        }
    }

    private func revoke(_ lease: LeaseName, _ reason: String, _ identity: PeerIdentity) {
        send(.revoke(Revoke(lease: lease, reason: reason)), to: identity)
    }

    private func receive(_ chunk: Chunk, _ payload: [MessageFrame], from worker: WorkerID, _ identity: PeerIdentity) {
        let fence = Fence(chunk.lease.fence)
        guard let lease = leases[fence], lease.grant.worker == worker, let frame = payload.first else {
            return revoke(chunk.lease, "stale", identity)
        }
        guard chunk.sequence == lease.nextSequence, chunk.offset == lease.nextOffset else {
            return handle(
                .leaseFailed(
                    fence, worker,
                    Failure(
                        .transport, "Bytes of the segment are missing or repeated.", retry: .elsewhere, fault: .worker))
            )
        }
        leases[fence]?.nextSequence += 1
        leases[fence]?.nextOffset += Int64(frame.count)
        let receiver = lease.receiver
        let sender = sender
        storage.perform {
            frame.withUnsafeBytes { receiver.append($0) }
            // Credit comes back when the bytes are written: a slow disk holds up the slots and fills no memory.
            try? sender.send(.credit(Credit(lease: chunk.lease, bytes: Int64(frame.count))), to: identity)
        }
    }

    private func receive(
        _ result: SegmentResult, _ payload: [MessageFrame], from worker: WorkerID, _ identity: PeerIdentity
    ) {
        let fence = Fence(result.lease.fence)
        guard let lease = leases[fence], lease.grant.worker == worker else {
            return revoke(result.lease, "stale", identity)
        }
        guard result.bytes == lease.nextOffset else {
            return handle(
                .leaseFailed(
                    fence, worker,
                    Failure(.transport, "The segment arrived incomplete.", retry: .elsewhere, fault: .worker)))
        }
        if proves(lease), !proofs.isProven(worker, lease.grant.job) {
            return handle(
                .leaseFailed(
                    fence, worker,
                    Failure(
                        .encoder, "The slot has not shown what its encoder makes of the reference frames.",
                        retry: .elsewhere, fault: .worker)))
        }
        leases[fence]?.result = result
        pendingPayload[fence] = payload
        handle(.resultReceived(fence, worker, hash: result.hash, frames: result.frames))
        pendingPayload[fence] = nil
    }

    /// The format and table of results that the scheduler is just deciding on.
    private var pendingPayload: [Fence: [MessageFrame]] = [:]

    // MARK: Scheduler

    func handle(_ event: Event) {
        for action in scheduler.handle(event, now: now) {
            desk?.noted(action)
            perform(action)
        }
    }

    private func proves(_ lease: OpenLease) -> Bool {
        options.provesEncoders && jobs[lease.grant.job]?.recipe.encoder != "copy"
    }

    private func notice(_ job: JobID? = nil, _ text: String) {
        for (id, runtime) in jobs where job == nil || job == id { runtime.telemetry.notice(text) }
    }

    private func perform(_ action: Action) {
        switch action {
        case .grant(let grant): send(grant)
        case .revoke(let fence, let worker, let reason):
            let job = leases[fence]?.grant.job
            drop(fence)
            if let identity = identities[worker], let job {
                revoke(LeaseName(job: job.text, fence: fence.number), reason.rawValue, identity)
            }
        case .store(let fence, let job, let segment): storeResult(fence, job, segment)
        case .discard(let fence, _): drop(fence)
        case .nondeterminism(let job, let segment, _, _):
            notice(
                job,
                "Segment \(segment): two slots gave different bytes; the first result is kept. The encoder is not deterministic."
            )
        case .segmentFinished(let job, let segment, let fence): finished(job, segment, fence)
        case .segmentFailed(let job, let segment, let failure):
            notice(job, "Segment \(segment) failed for good: \(failure.message)")
            jobs[job]?.failed.append((segment, failure))
        case .jobChanged(let job, let state): changed(job, state)
        case .quarantine(let node, let encoder, _, let failure):
            notice(nil, "\(node) gets no more \(encoder) work for a while: \(failure.message)")
        case .record(let occurrence): record(occurrence)
        }
    }

    private func send(_ grant: Grant) {
        guard let job = jobs[grant.job], let identity = identities[grant.worker],
            job.segments.indices.contains(grant.segment)
        else { return }
        let lease = OpenLease(grant, spool: job.spool)
        leases[grant.lease] = lease
        // The slot does both in turn, so the answer is here before the first result can be.
        if proves(lease), proofs.begin(grant.worker, grant.job) {
            send(.prove(Prove(job: job.id.text, recipe: job.recipe)), to: identity)
        }
        send(
            .lease(
                Lease(
                    lease: LeaseName(job: job.id.text, fence: grant.lease.number),
                    recipe: job.recipe(ofSegment: grant.segment), source: job.source,
                    segment: job.segments[grant.segment], credit: Self.credit, stallSeconds: job.stallSeconds)),
            to: identity)
    }

    private func drop(_ fence: Fence) {
        guard let lease = leases.removeValue(forKey: fence) else { return }
        storage.perform { lease.receiver.cancel() }
    }

    private func storeResult(_ fence: Fence, _ job: JobID, _ segment: Int) {
        guard let lease = leases[fence], let result = lease.result, let payload = pendingPayload[fence],
            payload.count >= 2
        else { return }
        let archive = payload[0].bytes
        let table = payload.dropFirst().flatMap(\.bytes)
        let link = link
        let frames = result.frames
        storing += 1
        keeper.keep(job, lease.receiver, in: lease.spool) { (receiver) throws(Failure) in
            let file = try receiver.finish(result, archive: archive, table: table)
            return AcceptedSegment(
                index: segment, lease: fence, worker: lease.grant.worker,
                spoolFile: Spool.fileName(ofSegment: segment), bytes: file.bytes, hash: file.hash, frames: frames,
                encodeSeconds: result.seconds)
        } done: { outcome in
            link.perform { $0.settle(fence, outcome) }
        }
    }

    private func settle(_ fence: Fence, _ outcome: Result<String, Failure>) {
        storing -= 1
        switch outcome {
        case .success(let hash):
            storageTrouble = nil
            leases[fence]?.fileHash = hash
            handle(.resultStored(fence))
        case .failure(let failure) where failure.fault == .worker: handle(.resultRejected(fence, failure))
        case .failure(let failure): handle(.storeFailed(fence, failure))
        }
        while storing < Self.mostStoring, !waiting.isEmpty { handle(.workerReady(waiting.removeFirst())) }
    }

    private func finished(_ id: JobID, _ segment: Int, _ fence: Fence) {
        guard let lease = leases.removeValue(forKey: fence), let result = lease.result, let hash = lease.fileHash
        else { return }
        jobs[id]?.acceptedFrames += result.frames
        jobs[id]?.acceptedBytes += result.bytes
        jobs[id]?.encodeSeconds += result.seconds
        jobs[id].map { jobs[id]?.stages = $0.stages + result.stageSeconds }
        jobs[id]?.warnings += result.warnings
        jobs[id]?.workers.insert(SlotPlace(lease.grant.worker))
        tallies[SlotPlace(lease.grant.worker), default: WorkerTally()].add(result)
        jobs[id]?.board.accept(segment, hash: hash)
        if let identity = identities[lease.grant.worker] {
            send(.accepted(Accepted(lease: LeaseName(job: id.text, fence: fence.number))), to: identity)
        }
    }

    private func changed(_ id: JobID, _ state: JobState) {
        if state.isOver { desk?.settled(id, state) }
        guard state == .failed || state == .cancelled else { return }
        jobs[id]?.board.fail(
            jobs[id]?.failure ?? scheduler.jobStatus(id)?.lastFailure
                ?? Failure(.cancelled, "The job was cancelled.", exitCode: .interrupted))
    }

    private func record(_ occurrence: Occurrence) {
        switch occurrence {
        case .leaseEnded(let fence, let worker, let job, let segment, let state, let failure):
            // A finished lease is settled by `segmentFinished`, which needs its account.
            if state != .finished {
                drop(fence)
                // Whatever ended it, a slot that still holds it need not wait for word about its result.
                if let identity = identities[worker] {
                    revoke(LeaseName(job: job.text, fence: fence.number), "ended", identity)
                }
            }
            if state == .failed, let failure, failure.boundary != .storage {
                let place = "\(worker.node)/\(worker.slot)"
                notice(job, "Segment \(segment) failed on \(place) and runs again: \(failure.message)")
                jobs[job]?.warnings.append("Segment \(segment) failed once on \(place): \(failure.message)")
            }
        case .jobHeld(let job, _, let failure):
            guard storageTrouble == nil else { break }
            storageTrouble = (clock, failure)
            let patience = options.storagePatience.map { " Trying again for \(Int($0)) s." } ?? " Trying again."
            notice(job, "\(failure.message)\(patience) \(failure.advice)")
        case .nodeBarred(let job, let node, let failure):
            notice(job, "\(node) cannot work on this job: \(failure.message)")
        case .reattached(let fence, let worker, let job, let segment):
            guard let runtime = jobs[job] else { return }
            let grant = Grant(lease: fence, worker: worker, job: job, segment: segment, isSpeculative: false)
            leases[fence] = OpenLease(grant, spool: runtime.spool)
        case .workerJoined, .workerLost, .nodeReleased, .nodeDrained, .ignored: break
        }
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
        let silence = UInt64(Self.livenessSeconds * 1e9)
        for (identity, peer) in peers where clock > peer.heard &+ silence {
            handle(
                .workerLost(
                    peer.worker,
                    Failure(
                        .transport, "The slot has said nothing for \(Int(Self.livenessSeconds)) s.", retry: .elsewhere,
                        fault: .worker)))
            forget(identity)
        }
        publish()
        desk?.tick()
    }

    private func forget(_ identity: PeerIdentity) {
        desk?.peerLeft(identity)
        heldHellos[identity] = nil
        guard let peer = peers.removeValue(forKey: identity) else { return }
        if identities[peer.worker] == identity { identities[peer.worker] = nil }
        waiting.removeAll { $0 == peer.worker }
    }

    func stopped(_ error: MessagingError?) {
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
        guard let worker, identities[worker] == nil else { return }
        handle(
            .workerLost(
                worker, Failure(.transport, "The slot cannot be reached: \(error)", retry: .elsewhere, fault: .worker)))
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
            snapshot.slotsTotal = identities.count
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
        summary.encodeSeconds = job.encodeSeconds
        summary.stages = job.stages
        summary.warnings = job.telemetry.repairs + job.warnings
        job.telemetry.publish(summary)
    }
}

extension RouterSender {
    /// Encodes and queues a message.
    func send(_ message: CoordinatorMessage, to peer: PeerIdentity) throws {
        try send([MessageFrame(try MessageCodec.encode(message))], to: peer)
    }
}

extension Failure {
    /// How the process that held a slot before its successor ended, as a failure of the lease it held.
    fileprivate init(_ end: ProcessEnd?) {
        let message =
            switch end?.cause {
            case .stalled: "The slot hung and was killed"
            case .signalled: "The slot's process was ended by signal \(end?.code ?? 0)"
            case .exited: "The slot's process ended with status \(end?.code ?? 0)"
            case .unstarted, nil: "The slot's process is gone"
            }
        self.init(
            .resources, message + ".",
            advice:
                "Look at the memory and at the codec's words; where it hangs, --stall-limit says for how long it may.",
            retry: .elsewhere, fault: .worker, code: end?.code ?? 0, log: end?.log ?? [])
    }
}
