internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Messaging
internal import Scheduling

/// What clients ask for, and who may.
extension ClientDesk {
    func received(_ request: ClientRequest, from peer: PeerIdentity, role: PeerRole?) {
        guard Self.allows(request, role) else {
            let words = role.map { "A key of the role \($0.rawValue) may not do this." } ?? ""
            return refuse(request.request, .notPermitted(words), peer)
        }
        switch request {
        case .submit(let submit): take(submit, peer)
        case .query(let query): answer(query, peer)
        case .control(let control): obey(control, peer)
        }
    }

    /// Over a binding without keys whoever can connect is trusted.
    private static func allows(_ request: ClientRequest, _ role: PeerRole?) -> Bool {
        switch (role, request) {
        case (nil, _), (.client?, _): true
        // An observer sees the accounts of the work, not the film.
        case (.observer?, .query(let query)): query.subject != .samples
        default: false
        }
    }

    func refuse(_ request: Int, _ failure: Failure, _ peer: PeerIdentity) {
        handler.sender.reply(.failure(RequestFailed(request: request, failure: failure)), to: peer)
    }

    private func confirm(_ request: Int, _ peer: PeerIdentity) {
        handler.sender.reply(.done(Done(request: request)), to: peer)
    }

    // MARK: Submission

    private func take(_ submit: Submit, _ peer: PeerIdentity) {
        let id = Self.freshID(jobs)
        let (roots, store, sender, link) = (roots, handler.store, handler.sender, handler.link)
        let desk = DeskReference(self)
        handler.storage.perform {
            do throws(Failure) {
                let order = StoredOrder(
                    source: try roots.source(submit.source), settings: submit.settings, stated: submit.stated,
                    overwrite: submit.overwrite)
                let target = try roots.target(submit.destination)
                if !submit.overwrite, access(target, F_OK) == 0 {
                    throw Failure(
                        .storage, "\(target) exists already.", advice: "Choose another name, or use --overwrite.",
                        fault: .settings, exitCode: .cannotCreate)
                }
                let job = ServiceJob(
                    id: id, destination: target, priority: submit.priority, created: Clock.wall, order: order)
                try store.use { (store) throws(JobStoreError) in
                    try store.createJob(
                        JobRecord(
                            id: id, state: .waiting, priority: submit.priority, destination: target,
                            settings: try JSONText(order), source: JSONText(text: "null"),
                            plan: JSONText(text: "null"), segmentCount: 0, created: job.created))
                }
                link.perform { _ in desk.value?.accept(job) }
                sender.reply(.submitted(Submitted(request: submit.request, job: id.text)), to: peer)
            } catch {
                sender.reply(.failure(RequestFailed(request: submit.request, failure: error)), to: peer)
            }
        }
    }

    /// Short enough to type: 40 bits in letters that are hard to mistake.
    private static func freshID(_ jobs: [JobID: ServiceJob]) -> JobID {
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        var id: JobID
        repeat {
            id = JobID(String((0..<8).compactMap { _ in letters.randomElement() }))
        } while jobs[id] != nil
        return id
    }

    private func accept(_ job: ServiceJob) {
        jobs[job.id] = job
        order.append(job.id)
        log.note("submitted", job: job.id, "\(job.order.source) to \(job.destination)")
        admit()
    }

    // MARK: Control

    private func obey(_ control: Control, _ peer: PeerIdentity) {
        if control.action == .drain {
            guard handler.peers.workers.contains(where: { $0.key.node == control.target }) else {
                return refuse(control.request, .unknownNode(control.target), peer)
            }
            handler.handle(.nodeDrained(control.target, true))
            handler.drainNode(control.target)
            return confirm(control.request, peer)
        }
        if control.action == .release {
            guard handler.scheduler.nodeStatus().contains(where: { $0.node == control.target }) else {
                return refuse(control.request, .unknownNode(control.target), peer)
            }
            handler.handle(.nodeReleased(control.target))
            return confirm(control.request, peer)
        }
        guard let job = jobs[JobID(control.target)] else {
            return refuse(control.request, .unknownJob(control.target), peer)
        }
        do throws(Failure) {
            switch control.action {
            case .cancel: try cancel(job)
            case .pause: try pause(job)
            case .resume: try resume(job)
            case .retry: return try retry(job, control, peer)
            case .drain, .release: break
            }
            confirm(control.request, peer)
        } catch {
            refuse(control.request, error, peer)
        }
    }

    private func cancel(_ job: ServiceJob) throws(Failure) {
        guard !job.isOver else { throw .isOver(job) }
        jobs[job.id]?.isCancelled = true
        switch job.phase {
        case .queued:
            jobs[job.id]?.phase = .over(.cancelled)
            jobs[job.id]?.ended = Clock.wall
            log.note("cancelled", job: job.id, "It had not begun.")
        case .planning: job.interrupt?.interrupt()
        case .running: handler.handle(.jobCancelled(job.id))
        case .stitching: job.interrupt?.interrupt()
        case .over: break
        }
        persist(job.id)
    }

    private func pause(_ job: ServiceJob) throws(Failure) {
        guard !job.isOver, job.phase != .stitching else { throw .isOver(job) }
        jobs[job.id]?.isPaused = true
        if job.phase == .running { handler.handle(.jobPaused(job.id)) }
        log.note("paused", job: job.id, "No new leases; running ones finish.")
        persist(job.id)
        admit()
    }

    private func resume(_ job: ServiceJob) throws(Failure) {
        guard !job.isOver else { throw .isOver(job) }
        jobs[job.id]?.isPaused = false
        if job.phase == .running { handler.handle(.jobResumed(job.id)) }
        log.note("resumed", job: job.id, "Leases again.")
        persist(job.id)
        admit()
    }
}

/// The desk in closures that run on the endpoint's thread only, where it lives.
final class DeskReference: @unchecked Sendable {
    private(set) weak var value: ClientDesk?

    init(_ value: ClientDesk) { self.value = value }
}

extension RouterSender {
    /// Encodes and queues a reply. A client that went away, or does not read, gets none.
    func reply(_ message: ClientReply, payload: [MessageFrame] = [], to peer: PeerIdentity) {
        guard let header = try? MessageCodec.encode(message, payload: payload.map(\.count)) else { return }
        try? send([MessageFrame(header)] + payload, to: peer)
    }
}

extension Failure {
    static func unknownJob(_ id: String) -> Failure {
        Failure(
            .resources, "There is no job \(id).", advice: "`weft jobs` lists them.", fault: .settings,
            exitCode: .usage)
    }

    static func unknownSegment(_ index: Int, of job: JobID, last: Int) -> Failure {
        Failure(
            .format, "Job \(job) has no segment \(index); its last is \(last).",
            advice: "`weft segments \(job)` lists them.", fault: .settings, exitCode: .usage)
    }

    static func unknownNode(_ name: String) -> Failure {
        Failure(
            .resources, "No node \(name) is connected.", advice: "`weft workers` lists them.", fault: .settings,
            exitCode: .usage)
    }

    fileprivate static func isOver(_ job: ServiceJob) -> Failure {
        Failure(
            .resources, "Job \(job.id) is \(job.state.rawValue) already.", advice: "`weft job \(job.id)` tells more.",
            fault: .settings, exitCode: .usage)
    }
}
