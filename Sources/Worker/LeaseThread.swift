internal import ClusterProtocol
internal import Foundation
internal import Media
internal import Messaging
internal import SourceAccess
internal import Synchronization

/// The thread that runs a slot's leases one after another, and keeps the source open between those of one job.
final class LeaseThread: @unchecked Sendable {
    private let sender: DealerSender
    private let queue = BoundedQueue<Work>(capacity: 8)
    private let busy = Atomic<Bool>(false)
    private let draining = Atomic<Bool>(false)
    /// The coordinator streams what a slot cannot open.
    let streams = Atomic<Bool>(false)
    private let held = Mutex<SourceReference?>(nil)
    /// The last proofs, for a coordinator that was started again and asks in the middle of a lease.
    private let proofs = Mutex<[(request: Prove, answer: FingerprintAnswer)]>([])
    // Touched by the thread alone.
    private var session: SourceSession?

    private enum Work: Sendable {
        case lease(LeaseRun)
        case proof(Prove)
    }

    init(_ sender: DealerSender) {
        self.sender = sender
        let thread = Thread { [self] in
            while let work = queue.pop() {
                switch work {
                case .lease(let run): serve(run)
                case .proof(let request): prove(request)
                }
            }
        }
        thread.name = "weft-lease"
        thread.stackSize = 8 << 20
        thread.start()
    }

    deinit { queue.close() }

    var isIdle: Bool { !busy.load(ordering: .acquiring) }

    /// Hash of the source that is open.
    var heldSource: String? { held.withLock { $0?.fingerprint.hash } }

    /// Only while `isIdle`.
    func start(_ run: LeaseRun) {
        busy.store(true, ordering: .releasing)
        _ = queue.push(.lease(run))
    }

    /// Encodes the reference frames, before the lease that is started next.
    func start(_ request: Prove) {
        if let known = proofs.withLock({ $0.first { $0.request == request }?.answer }) {
            try? sender.send(.fingerprint(known))
        } else {
            _ = queue.push(.proof(request))
        }
    }

    private func prove(_ request: Prove) {
        let answer: FingerprintAnswer
        do throws(Failure) {
            answer = FingerprintAnswer(job: request.job, hash: try EncoderFingerprint.make(of: request.recipe))
        } catch {
            answer = FingerprintAnswer(job: request.job, hash: "", failure: error)
        }
        proofs.withLock { proofs in
            proofs.removeAll { $0.request.job == request.job }
            if proofs.count == 8 { proofs.removeFirst() }
            proofs.append((request, answer))
        }
        try? sender.send(.fingerprint(answer))
    }

    /// Asks for no further lease.
    func drain() { draining.store(true, ordering: .releasing) }

    private func serve(_ run: LeaseRun) {
        do throws(Failure) {
            run.run(try source(for: run))
        } catch {
            run.report(error.atThisNode, isUnfit: error.boundary == .asset)
        }
        run.isReading(under: nil)
        // A session that failed may stand anywhere: the next lease opens the source anew.
        if run.cancellation.isInterrupted { close() }
        busy.store(false, ordering: .releasing)
        if !draining.load(ordering: .acquiring) { try? sender.send(.ready(Ready(source: heldSource))) }
    }

    /// The source itself where it opens here and is the one that was planned, else the coordinator's reading of it.
    private func source(for run: LeaseRun) throws(Failure) -> any SegmentSource {
        guard run.lease.access == .direct else { return try run.openStream(because: nil) }
        do throws(Failure) {
            return try open(run.lease.source, for: run)
        } catch {
            guard error.boundary == .asset, streams.load(ordering: .acquiring), !run.cancellation.isInterrupted else {
                throw error
            }
            return try run.openStream(because: error.atThisNode)
        }
    }

    private func open(_ source: SourceReference, for run: LeaseRun) throws(Failure) -> SourceSession {
        if let session, held.withLock({ $0 == source }) {
            run.isReading(under: session.interrupt)
            do throws(Failure) {
                try session.checkUnchanged()
            } catch {
                close()
                throw error
            }
            return session
        }
        close()
        let interrupt = InterruptFlag()
        run.isReading(under: interrupt)
        let opened = try SourceSession(source, interrupt: interrupt)
        session = opened
        held.withLock { $0 = source }
        return opened
    }

    private func close() {
        session = nil
        held.withLock { $0 = nil }
    }
}

extension Failure {
    /// A source that cannot be opened here may be there for others.
    fileprivate var atThisNode: Failure {
        guard boundary == .asset else { return self }
        var failure = self
        failure.retry = .elsewhere
        failure.message = "\(ProcessInfo.processInfo.hostName): \(message)"
        failure.advice = "Let every node see the source under the same path or URL."
        return failure
    }
}
