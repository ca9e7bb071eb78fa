internal import ClusterProtocol
internal import Foundation
internal import Media
internal import Messaging
internal import SourceAccess

/// Reads sources for slots that cannot open them, on a few threads of its own.
///
/// A stream reads only what its slot has granted credit for, so its memory is one message and what is on the way. Sources stay
/// open from one stream to the next.
final class SourceStreams: @unchecked Sendable {
    /// What became of a stream that did not come to its end.
    enum Trouble: Sendable {
        /// The source is not what was planned: nobody can read it.
        case changed(Failure)
        case failed(Failure)
    }

    private let sender: RouterSender
    /// Called on one of the threads.
    private let report: @Sendable (Fence, Trouble) -> Void

    // Guarded by `condition`.
    private let condition = NSCondition()
    private var entries: [Fence: Entry] = [:]
    private var ready: [Entry] = []
    private var resting: [Resting] = []
    private var open = 0
    private var isClosed = false
    private var isStarted = false

    /// Sources that are open at a time: each holds its index in memory. Streams above that wait for their turn.
    private static let mostOpen = 64
    private static let mostResting = 16
    private static let threads = min(8, max(2, ProcessInfo.processInfo.processorCount))
    /// Messages that a stream sends before the next one has its turn.
    private static let turn = 8

    /// One stream, from its first credit to its end. Everything but `credit` and the flags is the running thread's.
    private final class Entry: @unchecked Sendable {
        let order: SourceStream.Order
        /// The slot tried the source and could not: the source itself is looked at closely.
        let isSuspicious: Bool
        // Guarded by `condition`.
        var credit: CreditBalance
        var isQueued = false
        var isRunning = false
        var isCancelled = false
        /// It counts among those that are open.
        var isReserved = false
        /// The endpoint's queue was full: it waits for the next tick.
        var isCongested = false
        /// Stops the reading of the source, which is of no use afterwards.
        var reading: InterruptFlag?
        // The running thread's.
        var session: SourceSession?
        var stream: SourceStream?
        /// Cut, and more than the credit of the moment.
        var pending: SourceStream.Message?

        init(_ order: SourceStream.Order, credit: Int64, isSuspicious: Bool) {
            self.order = order
            self.credit = CreditBalance(credit)
            self.isSuspicious = isSuspicious
        }
    }

    private struct Resting {
        var source: SourceReference
        var session: SourceSession
    }

    init(_ sender: RouterSender, report: @escaping @Sendable (Fence, Trouble) -> Void) {
        self.sender = sender
        self.report = report
    }

    // MARK: Endpoint's thread

    /// Which stream of the lease is running; `nil` for none.
    func number(of fence: Fence) -> Int? {
        condition.lock()
        defer { condition.unlock() }
        return entries[fence]?.order.number
    }

    func begin(_ order: SourceStream.Order, credit: Int64, isSuspicious: Bool) {
        condition.lock()
        defer { condition.unlock() }
        startThreads()
        entries.removeValue(forKey: order.fence).map(stop)
        let entry = Entry(order, credit: credit, isSuspicious: isSuspicious)
        entries[order.fence] = entry
        enqueue(entry)
    }

    func grant(_ bytes: Int64, to fence: Fence) {
        condition.lock()
        defer { condition.unlock() }
        guard let entry = entries[fence] else { return }
        entry.credit.grant(bytes)
        enqueue(entry)
    }

    func cancel(_ fence: Fence) {
        condition.lock()
        defer { condition.unlock() }
        entries.removeValue(forKey: fence).map(stop)
    }

    /// `condition` is held.
    private func stop(_ entry: Entry) {
        entry.isCancelled = true
        // A read that is under way may take for ever; a source that waits for credit can serve the next stream.
        if entry.isRunning { entry.reading?.interrupt() }
        // A thread puts it away: closing may block.
        enqueue(entry)
    }

    /// The job is over: nothing of it stays open.
    func forget(_ source: SourceReference) {
        condition.lock()
        let dropped = resting.filter { $0.source == source }
        resting.removeAll { $0.source == source }
        condition.unlock()
        _ = dropped
    }

    /// Streams that found the endpoint's queue full go on.
    func tick() {
        condition.lock()
        for entry in entries.values where entry.isCongested || !entry.isReserved {
            entry.isCongested = false
            enqueue(entry)
        }
        condition.unlock()
    }

    func close() {
        condition.lock()
        isClosed = true
        for entry in entries.values { entry.reading?.interrupt() }
        condition.broadcast()
        condition.unlock()
    }

    /// `condition` is held.
    private func enqueue(_ entry: Entry) {
        guard !entry.isQueued, !entry.isRunning else { return }
        entry.isQueued = true
        ready.append(entry)
        condition.signal()
    }

    /// `condition` is held.
    private func startThreads() {
        guard !isStarted else { return }
        isStarted = true
        for _ in 0..<Self.threads {
            let thread = Thread { [self] in
                while let entry = take() { serve(entry) }
            }
            thread.name = "weft-source"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    // MARK: Reading threads

    private func take() -> Entry? {
        condition.lock()
        defer { condition.unlock() }
        while ready.isEmpty, !isClosed { condition.wait() }
        guard !isClosed else { return nil }
        let entry = ready.removeFirst()
        entry.isQueued = false
        entry.isRunning = true
        return entry
    }

    private enum Step { case over, again, waits }

    private func serve(_ entry: Entry) {
        var step = Step.over
        var failure: Failure?
        do throws(Failure) {
            step = try run(entry)
        } catch {
            failure = error
        }
        condition.lock()
        entry.isRunning = false
        let isCancelled = entry.isCancelled
        let isOver = isCancelled || step == .over
        if isOver, entries[entry.order.fence] === entry { entries[entry.order.fence] = nil }
        if !isOver, step == .again || mayGoOn(entry) { enqueue(entry) }
        condition.unlock()
        guard isOver else { return }
        release(entry, keeps: failure == nil)
        if let failure, !isCancelled { settle(entry, failure) }
    }

    /// Credit came while it ran. `condition` is held.
    private func mayGoOn(_ entry: Entry) -> Bool {
        guard !entry.isCongested, let message = entry.pending else { return false }
        return Int64(message.bytes) <= entry.credit.available
    }

    private func run(_ entry: Entry) throws(Failure) -> Step {
        guard !isStopped(entry) else { return .over }
        guard try prepare(entry), let stream = entry.stream else { return .waits }
        for _ in 0..<Self.turn {
            guard !isStopped(entry) else { return .over }
            if entry.pending == nil { entry.pending = try stream.next() }
            guard let message = entry.pending else { return .over }
            guard spend(message.bytes, of: entry) else { return .waits }
            guard try send(message, to: entry) else {
                postpone(entry, message.bytes)
                return .waits
            }
            entry.pending = nil
            if message.header.last { return .over }
        }
        return .again
    }

    private func isStopped(_ entry: Entry) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        return entry.isCancelled
    }

    private func spend(_ bytes: Int, of entry: Entry) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        return entry.credit.spend(bytes)
    }

    private func postpone(_ entry: Entry, _ bytes: Int) {
        condition.lock()
        defer { condition.unlock() }
        entry.credit.grant(Int64(bytes))
        entry.isCongested = true
    }

    /// - Returns: `false` while the endpoint's queue is full.
    private func send(_ message: SourceStream.Message, to entry: Entry) throws(Failure) -> Bool {
        do {
            let header = try MessageCodec.encode(
                CoordinatorMessage.source(message.header), payload: message.payload.map(\.count))
            try sender.send([MessageFrame(header)] + message.payload, to: entry.order.peer)
            return true
        } catch let error as MessagingError where error.code == .congested {
            return false
        } catch {
            throw Failure(
                .transport, "The samples of \(entry.order.source.location) cannot be sent: \(error)",
                advice: "Let the nodes see the source under the same path or URL.", fault: .environment)
        }
    }

    /// Opens and positions the source, once.
    /// - Returns: `false` while too many are open.
    private func prepare(_ entry: Entry) throws(Failure) -> Bool {
        guard entry.stream == nil else { return true }
        let source = entry.order.source
        guard reserve(entry, source) else { return false }
        if let change = source.changeSincePlanned(isThorough: entry.isSuspicious || entry.session == nil) {
            throw change
        }
        let session: SourceSession
        if let kept = entry.session {
            session = kept
        } else {
            let reading = InterruptFlag()
            note(reading, of: entry)
            session = try SourceSession(source, interrupt: reading)
            entry.session = session
        }
        entry.stream = try SourceStream(entry.order, session: session)
        return true
    }

    private func note(_ reading: InterruptFlag, of entry: Entry) {
        condition.lock()
        defer { condition.unlock() }
        entry.reading = reading
        if entry.isCancelled { reading.interrupt() }
    }

    /// Takes a source that is open, or the right to open one.
    private func reserve(_ entry: Entry, _ source: SourceReference) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !entry.isReserved else { return true }
        if let index = resting.firstIndex(where: { $0.source == source }) {
            let session = resting.remove(at: index).session
            entry.session = session
            entry.reading = session.interrupt
        } else if open >= Self.mostOpen {
            return false
        }
        open += 1
        entry.isReserved = true
        return true
    }

    private func release(_ entry: Entry, keeps: Bool) {
        var dropped = entry.session
        entry.stream = nil
        entry.pending = nil
        entry.session = nil
        condition.lock()
        if entry.isReserved { open -= 1 }
        entry.isReserved = false
        if keeps, let session = dropped, !session.interrupt.isInterrupted, !isClosed, resting.count < Self.mostResting {
            resting.append(Resting(source: entry.order.source, session: session))
            dropped = nil
        }
        condition.unlock()
        _ = dropped
    }

    private func settle(_ entry: Entry, _ failure: Failure) {
        let (report, fence) = (report, entry.order.fence)
        entry.order.source.examine { change in report(fence, change.map { .changed($0) } ?? .failed(failure)) }
    }
}
