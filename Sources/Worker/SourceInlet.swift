internal import ClusterProtocol
internal import Foundation
internal import Media
internal import Messaging
internal import SegmentPlan
internal import SourceAccess

/// One lease's source where the coordinator reads it for this slot.
///
/// What it has granted and the pipeline has not taken bounds the memory; the endpoint's thread only puts messages down here, so
/// progress and heartbeat never wait behind source data.
final class SourceInlet: @unchecked Sendable {
    private let lease: LeaseName
    private let sender: DealerSender
    /// Called while nothing comes: a slot that waits for the coordinator is not hung.
    private let waiting: @Sendable () -> Void

    // Guarded by `condition`.
    private let condition = NSCondition()
    private var arrived: [(chunk: SourceChunk, payload: [MessageFrame])] = []
    private var window = CreditWindow(size: ProtocolLimits.sourceWindow)
    private var stream = 0
    private var isComplete = false
    private var isCancelled = false
    private var failure: Failure?
    /// Sequence of the first message that has not been taken.
    private var wanted = 0
    /// `nil` for the segment's own.
    private var entry: Keyframe?

    init(_ lease: LeaseName, sender: DealerSender, waiting: @escaping @Sendable () -> Void) {
        self.lease = lease
        self.sender = sender
        self.waiting = waiting
    }

    // MARK: Endpoint's thread

    func receive(_ chunk: SourceChunk, _ payload: [MessageFrame]) {
        condition.lock()
        defer { condition.unlock() }
        // What was still on the way when the connection broke.
        guard chunk.stream == stream, !isComplete else { return }
        do {
            try window.receive(payload.reduce(0) { $0 + $1.count })
            arrived.append((chunk, payload))
            isComplete = chunk.last
        } catch {
            failure = Failure(
                .transport, error.detail, advice: "Run the same version of weft on both machines.", retry: .retry,
                fault: .environment)
        }
        condition.broadcast()
    }

    /// The coordinator does not know any more what it sent: it goes on after what is here.
    func reconnect() {
        condition.lock()
        defer { condition.unlock() }
        if !isComplete { try? begin(anew: true, because: nil) }
    }

    /// `condition` is held.
    private func begin(anew: Bool, because reason: Failure?) throws(Failure) {
        if anew { stream += 1 }
        arrived.removeAll()
        failure = nil
        isComplete = false
        window = CreditWindow(size: ProtocolLimits.sourceWindow)
        let credit = SourceCredit(
            lease: lease, bytes: window.size, stream: stream, from: wanted, entry: entry, failure: reason)
        try sender.send(.sourceCredit(credit))
    }

    func cancel() {
        condition.lock()
        isCancelled = true
        condition.broadcast()
        condition.unlock()
    }

    // MARK: Reading

    /// Asks for the samples.
    /// - Parameter reason: why this slot does not read the source itself, where it tried.
    func request(because reason: Failure?) throws(Failure) {
        condition.lock()
        defer { condition.unlock() }
        try begin(anew: false, because: reason)
    }

    /// Asks for them from another keyframe on.
    func request(from entry: Keyframe) throws(Failure) {
        condition.lock()
        defer { condition.unlock() }
        self.entry = entry
        wanted = 0
        try begin(anew: true, because: nil)
    }

    /// Waits for the next message.
    func take() throws(Failure) -> (chunk: SourceChunk, payload: [MessageFrame]) {
        condition.lock()
        while arrived.isEmpty, !isCancelled, failure == nil {
            waiting()
            _ = condition.wait(until: Date(timeIntervalSinceNow: 0.5))
        }
        if let failure = isCancelled ? Failure.interrupted : failure {
            condition.unlock()
            throw failure
        }
        let message = arrived.removeFirst()
        wanted = message.chunk.sequence + 1
        let bytes = window.consume(message.payload.reduce(0) { $0 + $1.count })
        let credit = SourceCredit(lease: lease, bytes: max(1, bytes), stream: stream, from: wanted)
        let isGranted = bytes > 0 && !isComplete
        condition.unlock()
        if isGranted { try sender.send(.sourceCredit(credit)) }
        return message
    }
}

/// A segment's source as it comes through an inlet.
final class StreamedSource: SegmentSource {
    let picture: SourcePicture
    private let inlet: SourceInlet
    private var assembly = SourceAssembly()
    private var entry: Keyframe

    /// Asks for the samples and waits for the first of them.
    init(_ inlet: SourceInlet, segment: Segment, because reason: Failure?) throws(Failure) {
        self.inlet = inlet
        entry = segment.entry
        try inlet.request(because: reason)
        let first = try inlet.take()
        try assembly.add(first.chunk, first.payload)
        guard let picture = assembly.picture else {
            throw Failure(
                .transport, "The streamed source does not say what it is.", retry: .retry, fault: .environment)
        }
        self.picture = picture
    }

    /// The coordinator knows the lease's segment; another entry has to be said.
    func begin(_ segment: Segment, goesOn: Bool, skipped: @escaping (Int) -> Void) throws(Failure) {
        guard segment.entry != entry else { return }
        entry = segment.entry
        assembly = SourceAssembly()
        try inlet.request(from: entry)
    }

    func next() throws(Failure) -> Sample? {
        while true {
            if let sample = try assembly.next() { return sample }
            if assembly.isFinished { return nil }
            let message = try inlet.take()
            try assembly.add(message.chunk, message.payload)
        }
    }
}
