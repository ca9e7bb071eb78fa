internal import ClusterProtocol
internal import Foundation
internal import Media
internal import Messaging
internal import SourceAccess
internal import Synchronization

/// The thread that runs a slot's leases one after another, and keeps the source open between those of one job.
final class LeaseThread: @unchecked Sendable {
    private let sender: DealerSender
    private let queue = BoundedQueue<LeaseRun>(capacity: 1)
    private let busy = Atomic<Bool>(false)
    private let draining = Atomic<Bool>(false)
    private let held = Mutex<SourceReference?>(nil)
    // Touched by the thread alone.
    private var session: SourceSession?

    init(_ sender: DealerSender) {
        self.sender = sender
        let thread = Thread { [self] in
            while let run = queue.pop() { serve(run) }
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
        _ = queue.push(run)
    }

    /// Asks for no further lease.
    func drain() { draining.store(true, ordering: .releasing) }

    private func serve(_ run: LeaseRun) {
        do throws(Failure) {
            run.run(try open(run.lease.source))
        } catch {
            run.report(error)
        }
        // A session that failed may stand anywhere: the next lease opens the source anew.
        if run.cancellation.isInterrupted { close() }
        busy.store(false, ordering: .releasing)
        if !draining.load(ordering: .acquiring) { try? sender.send(.ready(Ready(source: heldSource))) }
    }

    private func open(_ source: SourceReference) throws(Failure) -> SourceSession {
        if let session, held.withLock({ $0 == source }) { return session }
        close()
        let opened = try SourceSession(source, interrupt: InterruptFlag())
        session = opened
        held.withLock { $0 = source }
        return opened
    }

    private func close() {
        session = nil
        held.withLock { $0 = nil }
    }
}
