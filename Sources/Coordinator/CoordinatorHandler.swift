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
    private let sender: RouterSender
    private let link: CoordinatorLink
    private let storage: SerialThread
    private let keeper: ResultKeeper
    private let telemetry: Telemetry
    private var scheduler: Scheduler
    private var peers: [PeerIdentity: Peer] = [:]
    private var identities: [WorkerID: PeerIdentity] = [:]
    private var jobs: [JobID: JobRuntime] = [:]
    private var leases: [Fence: OpenLease] = [:]
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

    /// Seconds of silence after which a slot is taken for lost; a node kills its own hung slots sooner.
    private static let livenessSeconds = 20.0
    private static let heartbeatSeconds = 2.0
    /// A disk that is slower than the slots holds them up beyond this many results, so that they do not pile up in memory.
    private static let mostStoring = 32
    /// Seconds for which somebody may free space before the job ends.
    private static let storagePatience = 20.0

    init(
        sender: RouterSender, link: CoordinatorLink, storage: SerialThread, keeper: ResultKeeper, telemetry: Telemetry,
        firstLease: UInt64
    ) {
        self.sender = sender
        self.link = link
        self.storage = storage
        self.keeper = keeper
        self.telemetry = telemetry
        scheduler = Scheduler(firstLease: Fence(firstLease))
    }

    /// Monotonic nanoseconds, without the time for which this process was stopped (Ctrl-Z, a debugger): slots went on
    /// meanwhile, and their silence is not theirs.
    private var clock: UInt64 { Clock.now &- suspended }
    private var suspended: UInt64 = 0
    private var lastTick = Clock.now
    private static let longestPause: UInt64 = 3_000_000_000

    private var now: Instant { Instant(nanoseconds: Int64(clamping: clock)) }

    // MARK: Jobs

    func submit(_ job: JobRuntime, spec: JobSpec, progress: JobProgress) {
        jobs[job.id] = job
        handle(.jobSubmitted(spec, progress: progress))
    }

    // MARK: Messages

    func received(_ message: ReceivedMessage) {
        guard let identity = message.peer, let header = message.frames.first else { return }
        let payload = Array(message.frames.dropFirst())
        let decoded: WorkerMessage
        do {
            decoded = try header.withUnsafeBytes { (bytes) throws(ProtocolError) in
                try MessageCodec.decode(header: bytes, payload: payload.map(\.count))
            }
        } catch {
            send(.refused(Refused(error.failure)), to: identity)
            return
        }
        if case .hello(let hello) = decoded { return greet(hello, identity) }
        guard let worker = peers[identity]?.worker else { return send(.identify(Identify()), to: identity) }
        peers[identity]?.heard = clock
        handle(decoded, payload, from: worker, identity)
    }

    private func greet(_ hello: Hello, _ identity: PeerIdentity) {
        guard hello.role == .slot else { return }
        let worker = WorkerID(node: hello.node, slot: hello.slot, incarnation: UInt64(hello.incarnation) ?? 0)
        // A slot that starts again has a new socket; nothing more comes from the one before.
        for (old, peer) in peers where peer.worker.node == worker.node && peer.worker.slot == worker.slot {
            if old != identity { forget(old) }
        }
        // One that asks again on the same socket (it was not spoken to for long) has missed nothing: if it is idle, it says so.
        let isKnown = peers[identity]?.worker == worker
        peers[identity] = Peer(worker: worker, heard: clock)
        identities[worker] = identity
        send(
            .welcome(
                Welcome(
                    coordinator: started, version: hello.version, heartbeatSeconds: Self.heartbeatSeconds,
                    livenessSeconds: Self.livenessSeconds)), to: identity)
        guard !isKnown else { return }
        handle(
            .workerJoined(
                worker, Capabilities(encoders: Set(hello.encoders.map(\.name))), holding: nil,
                predecessor: Failure(hello.predecessor)))
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
            leases[fence]?.frames = progress.frames
            leases[fence]?.ticks = progress.ticks
            leases[fence]?.bytes = progress.bytes
            handle(.leaseProgressed(fence, worker, frames: progress.frames))
        case .chunk(let chunk): receive(chunk, payload, from: worker, identity)
        case .result(let result): receive(result, payload, from: worker, identity)
        case .failed(let failed): handle(.leaseFailed(Fence(failed.lease.fence), worker, failed.failure))
        case .goodbye:
            handle(.workerLost(worker, Failure(.cancelled, "The slot left.", retry: .retry, fault: .environment)))
            forget(identity)
        case .heartbeat, .fingerprint, .sourceCredit, .hello: break
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
        leases[fence]?.result = result
        leases[fence]?.frames = result.frames
        pendingPayload[fence] = payload
        handle(.resultReceived(fence, worker, hash: result.hash, frames: result.frames))
        pendingPayload[fence] = nil
    }

    /// The format and table of results that the scheduler is just deciding on.
    private var pendingPayload: [Fence: [MessageFrame]] = [:]

    // MARK: Scheduler

    private func handle(_ event: Event) {
        for action in scheduler.handle(event, now: now) { perform(action) }
        publish()
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
        case .nondeterminism(_, let segment, _, _):
            telemetry.notice(
                "Segment \(segment): two slots gave different bytes; the first result is kept. The encoder is not deterministic."
            )
        case .segmentFinished(let job, let segment, let fence): finished(job, segment, fence)
        case .segmentFailed(let job, let segment, let failure):
            telemetry.notice("Segment \(segment) failed for good: \(failure.message)")
            jobs[job]?.failed.append((segment, failure))
        case .jobChanged(let job, let state): changed(job, state)
        case .quarantine(let node, let encoder, _, let failure):
            telemetry.notice("\(node) gets no more \(encoder) work for a while: \(failure.message)")
        case .record(let occurrence): record(occurrence)
        }
    }

    private func send(_ grant: Grant) {
        guard let job = jobs[grant.job], let identity = identities[grant.worker],
            job.segments.indices.contains(grant.segment)
        else { return }
        leases[grant.lease] = OpenLease(
            grant: grant,
            receiver: SegmentReceiver(spool: job.spool, segment: grant.segment, lease: grant.lease.number))
        send(
            .lease(
                Lease(
                    lease: LeaseName(job: job.id.text, fence: grant.lease.number), recipe: job.recipe,
                    source: job.source,
                    segment: job.segments[grant.segment], stallSeconds: job.stallSeconds)), to: identity)
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
        keeper.keep(job, lease.receiver) { (receiver) throws(Failure) in
            let file = try receiver.finish(result, archive: archive, table: table)
            return AcceptedSegment(
                index: segment, lease: fence, worker: lease.grant.worker,
                spoolFile: Spool.fileName(ofSegment: segment), bytes: file.bytes, hash: file.hash, frames: frames,
                encodeSeconds: result.seconds)
        } done: { failure in
            link.perform { $0.settle(fence, failure) }
        }
    }

    private func settle(_ fence: Fence, _ failure: Failure?) {
        storing -= 1
        switch failure {
        case nil:
            storageTrouble = nil
            handle(.resultStored(fence))
        case .some(let failure) where failure.fault == .worker: handle(.resultRejected(fence, failure))
        case .some(let failure): handle(.storeFailed(fence, failure))
        }
        while storing < Self.mostStoring, !waiting.isEmpty { handle(.workerReady(waiting.removeFirst())) }
    }

    private func finished(_ id: JobID, _ segment: Int, _ fence: Fence) {
        guard let lease = leases.removeValue(forKey: fence), let result = lease.result else { return }
        jobs[id]?.acceptedFrames += result.frames
        jobs[id]?.acceptedBytes += result.bytes
        jobs[id]?.encodeSeconds += result.seconds
        jobs[id].map { jobs[id]?.stages = $0.stages + result.stageSeconds }
        jobs[id]?.warnings += result.warnings
        jobs[id]?.board.accept(segment)
        if let identity = identities[lease.grant.worker] {
            send(.accepted(Accepted(lease: LeaseName(job: id.text, fence: fence.number))), to: identity)
        }
    }

    private func changed(_ id: JobID, _ state: JobState) {
        guard state == .failed || state == .cancelled else { return }
        jobs[id]?.board.fail(
            jobs[id]?.failure ?? scheduler.jobStatus(id)?.lastFailure
                ?? Failure(.cancelled, "The job was cancelled.", exitCode: .interrupted))
    }

    private func record(_ occurrence: Occurrence) {
        switch occurrence {
        case .leaseEnded(let fence, let worker, let job, let segment, let state, let failure):
            // A finished lease is settled by `segmentFinished`, which needs its account.
            if state != .finished { drop(fence) }
            if state == .failed, let failure, failure.boundary != .storage {
                let place = "\(worker.node)/\(worker.slot)"
                telemetry.notice("Segment \(segment) failed on \(place) and runs again: \(failure.message)")
                jobs[job]?.warnings.append("Segment \(segment) failed once on \(place): \(failure.message)")
            }
        case .jobHeld(_, _, let failure):
            guard storageTrouble == nil else { break }
            storageTrouble = (clock, failure)
            telemetry.notice(
                "\(failure.message) Trying again for \(Int(Self.storagePatience)) s. \(failure.advice)")
        case .nodeBarred(_, let node, let failure):
            telemetry.notice("\(node) cannot work on this job: \(failure.message)")
        case .reattached, .workerJoined, .workerLost, .nodeReleased, .nodeDrained, .ignored: break
        }
    }

    // MARK: Time

    func tick() {
        let pause = Clock.now &- lastTick
        if pause > Self.longestPause { suspended += pause }
        lastTick = Clock.now
        if let deadline = scheduler.nextDeadline, deadline < now || deadline == now { handle(.tick) }
        if let trouble = storageTrouble, Double(clock) - Double(trouble.since) > Self.storagePatience * 1e9 {
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
    }

    private func forget(_ identity: PeerIdentity) {
        guard let peer = peers.removeValue(forKey: identity) else { return }
        if identities[peer.worker] == identity { identities[peer.worker] = nil }
        waiting.removeAll { $0 == peer.worker }
    }

    func undeliverable(_ frames: [MessageFrame], to peer: PeerIdentity?, error: MessagingError) {
        guard let peer, let worker = peers[peer]?.worker else { return }
        forget(peer)
        handle(
            .workerLost(
                worker, Failure(.transport, "The slot cannot be reached: \(error)", retry: .elsewhere, fault: .worker)))
    }

    private func send(_ message: CoordinatorMessage, to identity: PeerIdentity) {
        try? sender.send(message, to: identity)
    }

    // MARK: Showing

    private func publish() {
        guard let job = jobs.values.first, let status = scheduler.jobStatus(job.id) else { return }
        var snapshot = ExportSnapshot()
        snapshot.framesDone = job.acceptedFrames
        snapshot.bytes = job.acceptedBytes
        for lease in leases.values where !lease.grant.isSpeculative {
            snapshot.framesDone += lease.frames
            snapshot.bytes += lease.bytes
        }
        snapshot.segmentsDone = status.counts.finished
        snapshot.segmentsTotal = status.counts.total
        snapshot.slotsBusy = leases.values.count { $0.result == nil }
        snapshot.slotsTotal = identities.count
        snapshot.remaining = status.predictedEnd.map { max(0, ($0 - now).seconds) }
        telemetry.publish(snapshot)
    }

    /// The account of a job's attempts, for the report.
    func summarize(_ id: JobID) {
        guard let job = jobs[id] else { return }
        var summary = LeaseSummary()
        summary.attempts = scheduler.jobStatus(id)?.leases ?? 0
        summary.encodeSeconds = job.encodeSeconds
        summary.stages = job.stages
        summary.warnings = telemetry.repairs + job.warnings
        telemetry.publish(summary)
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
