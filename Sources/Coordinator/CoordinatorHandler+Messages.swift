internal import ClusterProtocol
internal import Foundation
internal import Messaging
internal import Scheduling

/// What workers say: who is there, how far a lease is, its samples and its result.
extension CoordinatorHandler {
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
            peers.heard(identity, at: clock)
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
        if peers.hasNode(node), let known = nodeKeys[node], known != key { return false }
        nodeKeys[node] = key
        return true
    }

    func greet(_ hello: Hello, _ identity: PeerIdentity) {
        guard hello.role == .slot else { return }
        if let resume = hello.resume, desk?.isPlanning(JobID(resume.job)) == true {
            // Its lease is known once the job is there again; the slot keeps its work until then.
            heldHellos[identity] = hello
            return
        }
        heldHellos[identity] = nil
        let worker = WorkerID(node: hello.node, slot: hello.slot, incarnation: UInt64(hello.incarnation) ?? 0)
        // A slot that starts again has a new socket; nothing more comes from the one before.
        if let old = peers.other(than: identity, at: worker) { forget(old) }
        // One that asks again on the same socket (it was not spoken to for long) has missed nothing: if it is idle, it says so.
        let isKnown = peers[identity]?.worker == worker
        let held = hello.resume.flatMap { leases[Fence($0.fence)]?.grant }
        peers.insert(worker, identity, heard: clock, streams: hello.streams)
        tallies[SlotPlace(worker), default: WorkerTally()].host = hello.host
        tallies[SlotPlace(worker)]?.left = nil
        if !isKnown {
            proofs.askAgain(worker)
            handle(
                .workerJoined(
                    worker, Capabilities(encoders: Set(hello.encoders.map(\.name))),
                    holding: hello.resume.map { Fence($0.fence) }, predecessor: Failure(hello.predecessor)))
        }
        let resumption = hello.resume.flatMap { resume($0, by: worker) }
        // One that had been given up says so itself (`reattached`).
        if !isKnown, resumption != nil, let held { desk?.reconnected(held) }
        send(
            .welcome(
                Welcome(
                    coordinator: started, version: hello.version, heartbeatSeconds: Self.heartbeatSeconds,
                    livenessSeconds: Self.livenessSeconds, resume: resumption, streams: true)), to: identity)
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
        if options.provesEncoders, let identity = peers[worker], proofs.begin(worker, job.id) {
            send(.prove(Prove(job: job.id.text, recipe: job.recipe)), to: identity)
        }
        return Welcome.Resume(lease: name, offset: 0, credit: OpenLease.credit)
    }

    func handle(
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
            handle(.leaseProgressed(fence, worker, frames: progress.frames, work: progress.bytesRead))
        case .chunk(let chunk): receive(chunk, payload, from: worker, identity)
        case .result(let result): receive(result, payload, from: worker, identity)
        case .failed(let failed): receive(failed, from: worker)
        case .fingerprint(let answer): receive(answer, from: worker)
        case .goodbye:
            handle(.workerLost(worker, Failure(.cancelled, "The slot left.", retry: .retry, fault: .environment)))
            tallies[SlotPlace(worker), default: WorkerTally()].left = Clock.now
            forget(identity)
            // A drained node that comes back later is wanted again.
            if !peers.hasNode(worker.node) {
                handle(.nodeDrained(worker.node, false))
            }
        case .sourceCredit(let credit): receive(credit, from: worker, identity)
        case .heartbeat, .hello: break
        }
    }

    private func receive(_ failed: LeaseFailed, from worker: WorkerID) {
        let fence = Fence(failed.lease.fence)
        let isSourceTrouble = failed.isUnfit || failed.failure.boundary == .asset || failed.failure.fault == .source
        guard isSourceTrouble, let lease = leases[fence], lease.grant.worker == worker, let job = jobs[lease.grant.job]
        else { return handle(.leaseFailed(fence, worker, failed.failure)) }
        // Where it is the source that changed, no node can do it.
        let (link, id, source) = (link, job.id, job.source)
        source.examine { change in
            link.perform { handler in
                if let change { return handler.fail(id, change) }
                handler.handle(.leaseFailed(fence, worker, failed.failure))
                if failed.isUnfit { handler.handle(.nodeBarred(id, node: worker.node, failed.failure)) }
            }
        }
    }

    /// The job cannot go on, whoever works on it.
    func fail(_ id: JobID, _ failure: Failure) { jobs[id]?.board.fail(failure) }

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

    func revoke(_ lease: LeaseName, _ reason: String, _ identity: PeerIdentity) {
        send(.revoke(Revoke(lease: lease, reason: reason)), to: identity)
    }

    private func receive(_ chunk: Chunk, _ payload: [MessageFrame], from worker: WorkerID, _ identity: PeerIdentity) {
        let fence = Fence(chunk.lease.fence)
        guard let lease = leases[fence], lease.grant.worker == worker, let frame = payload.first else {
            return revoke(chunk.lease, "stale", identity)
        }
        do {
            try leases[fence]?.accept(chunk, bytes: frame.count)
        } catch {
            return handle(.leaseFailed(fence, worker, Failure(broken: error)))
        }
        let (receiver, link) = (lease.receiver, link)
        storage.perform {
            frame.withUnsafeBytes { receiver.append($0) }
            link.perform { $0.written(frame.count, by: receiver, of: fence) }
        }
    }

    /// Credit comes back when the bytes are written: a slow disk holds up the slots and fills no memory.
    private func written(_ bytes: Int, by receiver: SegmentReceiver, of fence: Fence) {
        // A lease that began again has another receiver, and a window of its own.
        guard let lease = leases[fence], lease.receiver === receiver, let identity = peers[lease.grant.worker],
            let grant = leases[fence]?.window.consume(bytes), grant > 0
        else { return }
        let name = LeaseName(job: lease.grant.job.text, fence: fence.number)
        send(.credit(Credit(lease: name, bytes: grant)), to: identity)
    }

    private func receive(
        _ result: SegmentResult, _ payload: [MessageFrame], from worker: WorkerID, _ identity: PeerIdentity
    ) {
        let fence = Fence(result.lease.fence)
        guard let lease = leases[fence], lease.grant.worker == worker else {
            return revoke(result.lease, "stale", identity)
        }
        do {
            try lease.chunks.check(result)
        } catch {
            return handle(.leaseFailed(fence, worker, Failure(broken: error)))
        }
        if options.provesEncoders, !proofs.isProven(worker, lease.grant.job) {
            return handle(
                .leaseFailed(
                    fence, worker,
                    Failure(
                        .encoder, "The slot has not shown what its encoder makes of the reference frames.",
                        retry: .elsewhere, fault: .worker)))
        }
        streams.cancel(fence)
        noteReached(by: lease)
        leases[fence]?.result = result
        pendingPayload[fence] = payload
        handle(.resultReceived(fence, worker, hash: result.hash, frames: result.frames))
        pendingPayload[fence] = nil
    }
}

extension Failure {
    /// A slot that breaks the order or the credit of a lease.
    fileprivate init(broken error: ProtocolError) {
        self.init(
            .transport, error.detail, advice: "Run the same version of weft on both machines.", retry: .elsewhere,
            fault: .worker)
    }

    /// SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: a process brings these upon itself.
    private static let crashes: Set<Int32> = [SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

    /// How the process that held a slot before its successor ended, as a failure of the lease it held.
    fileprivate init(_ end: ProcessEnd?) {
        let message =
            switch end?.cause {
            case .stalled: "The slot hung and was killed"
            case .signalled: "The slot's process was ended by signal \(end?.code ?? 0)"
            case .exited: "The slot's process ended with status \(end?.code ?? 0)"
            case .unstarted, nil: "The slot's process is gone"
            }
        // Who is killed from outside was in somebody's way; who crashes or hangs met something in the source.
        let isCrash = end?.cause == .stalled || (end?.cause == .signalled && Self.crashes.contains(end?.code ?? 0))
        self.init(
            .resources, message + ".",
            advice:
                "Look at the memory and at the codec's words; where it hangs, --stall-limit says for how long it may.",
            retry: .elsewhere, fault: isCrash ? .source : .worker, code: end?.code ?? 0, log: end?.log ?? [])
    }
}
