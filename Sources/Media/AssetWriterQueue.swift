internal import Foundation
internal import MediaTime
internal import Synchronization

/// The bounded queues between the threads that feed a writer and the one that writes, and the writer's state.
///
/// Samples leave in the order of their decode times across the inputs, once every dense input that is not finished has one.
final class AssetWriterQueue: Sendable {
    struct Limits: Sendable {
        var samples = 128
        var bytes = 16 << 20
    }

    private struct Lane {
        var isSparse: Bool
        var samples: [Sample] = []
        var head = 0
        var bytes = 0
        var isFinished = false
        var lastTime: (ticks: Int64, unit: TimeBase)?
        /// The first pictures, as long as none of them says when it is decoded.
        var opening = UntimedOpening()
        var waiters: [CheckedContinuation<Bool, Never>] = []

        var count: Int { samples.count - head }
        var first: Sample? { head < samples.count ? samples[head] : nil }

        mutating func removeFirst() -> Sample? {
            guard let sample = first else { return nil }
            head += 1
            bytes -= sample.size
            if head == samples.count || head > 256 {
                samples.removeFirst(head)
                head = 0
            }
            return sample
        }
    }

    private struct State: @unchecked Sendable {
        var status = AssetWriter.Status.unknown
        var error: MediaError?
        var session: MediaTime?
        var lanes: [Lane] = []
        var isFinishing = false
        /// The file is being given its name: too late to cancel.
        var isCommitting = false
        var limits = Limits()

        /// Ready, never again, or (`nil`) not yet.
        func answer(_ index: Int) -> Bool? {
            guard status == .writing || status == .unknown, !isFinishing, !lanes[index].isFinished else { return false }
            guard status == .writing, session != nil, !isFull(lanes[index]) else { return nil }
            return true
        }

        func isFull(_ lane: Lane) -> Bool { lane.count >= limits.samples || lane.bytes >= limits.bytes }
    }

    enum Next {
        case sample(Sample, Int)
        case finished, stopped
    }

    private let condition = NSCondition()
    /// Guarded by `condition`, which also wakes the waiting threads.
    private nonisolated(unsafe) var state = State()

    init(limits: Limits) { state.limits = limits }

    /// Runs `body` under the lock, then wakes every thread and every task whose condition may have changed.
    private func change<Result>(_ body: (inout State) throws(MediaError) -> Result) throws(MediaError) -> Result {
        condition.lock()
        defer { wake() }
        return try body(&state)
    }

    /// Unlocks.
    private func wake() {
        var resumed: [(CheckedContinuation<Bool, Never>, Bool)] = []
        for index in state.lanes.indices where !state.lanes[index].waiters.isEmpty {
            guard let answer = state.answer(index) else { continue }
            resumed += state.lanes[index].waiters.map { ($0, answer) }
            state.lanes[index].waiters = []
        }
        condition.broadcast()
        condition.unlock()
        for (continuation, answer) in resumed { continuation.resume(returning: answer) }
    }

    private func look<Result>(_ body: (State) -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body(state)
    }

    // MARK: State

    var status: AssetWriter.Status { look { $0.status } }
    var error: MediaError? { look { $0.error } }

    func addLane(isSparse: Bool) throws(MediaError) -> Int {
        try change { state throws(MediaError) in
            try Self.require(state, .unknown, "An input can be added only before writing starts.")
            state.lanes.append(Lane(isSparse: isSparse))
            return state.lanes.count - 1
        }
    }

    func require(_ status: AssetWriter.Status, _ message: String) throws(MediaError) {
        try change { state throws(MediaError) in try Self.require(state, status, message) }
    }

    private static func require(
        _ state: State, _ status: AssetWriter.Status, _ message: String
    ) throws(MediaError) {
        guard state.status == status else {
            throw state.error ?? MediaError(.finalization, .invalidSettings, message)
        }
    }

    func start() throws(MediaError) {
        try change { state throws(MediaError) in
            try Self.require(state, .unknown, "Writing has started already.")
            guard !state.lanes.isEmpty else {
                throw MediaError(.finalization, .invalidSettings, "A writer without inputs has nothing to write.")
            }
            state.status = .writing
        }
    }

    func startSession(at time: MediaTime) throws(MediaError) {
        try change { state throws(MediaError) in
            try Self.require(state, .writing, "A session can start only while writing.")
            guard state.session == nil else {
                throw MediaError(.finalization, .invalidSettings, "The session has started already.")
            }
            guard time.isNumeric else {
                throw MediaError(.timing, .invalidSettings, "A session cannot start at \(time).")
            }
            state.session = time
        }
    }

    /// The first end wins: nothing leads out of completed, failed and cancelled.
    @discardableResult
    func end(_ status: AssetWriter.Status, _ error: MediaError? = nil) -> Bool {
        condition.lock()
        defer { wake() }
        guard state.status == .unknown || state.status == .writing, status != .cancelled || !state.isCommitting else {
            return false
        }
        state.status = status
        state.error = error
        for index in state.lanes.indices {
            state.lanes[index].samples = []
            state.lanes[index].head = 0
        }
        return true
    }

    func beginFinishing() throws(MediaError) {
        try change { state throws(MediaError) in
            try Self.require(state, .writing, "Only a writer that writes can be finished.")
            guard !state.isFinishing else {
                throw MediaError(.finalization, .invalidSettings, "The writer is being finished already.")
            }
            for index in state.lanes.indices where !state.lanes[index].isFinished {
                try Self.endOpening(of: &state.lanes[index], input: index)
                state.lanes[index].isFinished = true
            }
            state.isFinishing = true
        }
    }

    /// From here on cancelling comes too late. `false` when it came before.
    func beginCommitting() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard state.status == .writing else { return false }
        state.isCommitting = true
        return true
    }

    // MARK: Feeding

    func isReady(_ index: Int) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        return state.answer(index) == true
    }

    func waitUntilReady(_ index: Int) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let answer = state.answer(index) { return answer }
            condition.wait()
        }
    }

    func ready(_ index: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            condition.lock()
            state.lanes[index].waiters.append(continuation)
            wake()
        }
    }

    func markAsFinished(_ index: Int) {
        condition.lock()
        defer { wake() }
        guard !state.lanes[index].isFinished else { return }
        do throws(MediaError) {
            try Self.endOpening(of: &state.lanes[index], input: index)
        } catch {
            (state.status, state.error) = (.failed, error)
        }
        state.lanes[index].isFinished = true
    }

    func append(_ sample: Sample, to index: Int) throws(MediaError) {
        try change { state throws(MediaError) in
            try Self.require(state, .writing, "A sample can be appended only while writing.")
            guard state.answer(index) == true, let session = state.session else {
                throw MediaError(
                    .finalization, .invalidSettings, "Input \(index) is not ready for a sample.")
            }
            do throws(MediaError) {
                let moved = try Self.move(sample, by: session)
                try Self.take(state.lanes[index].opening.add(moved), into: &state.lanes[index], input: index)
            } catch {
                state.status = .failed
                state.error = error
                throw error
            }
        }
    }

    private static func take(_ samples: [Sample], into lane: inout Lane, input: Int) throws(MediaError) {
        for sample in samples {
            try checkRising(sample, after: lane.lastTime, input: input)
            lane.lastTime = (sample.dts ?? sample.pts).map { ($0, sample.timeBase) }
            lane.bytes += sample.size
            lane.samples.append(sample)
        }
    }

    /// The input ends before anything told its decode times.
    private static func endOpening(of lane: inout Lane, input: Int) throws(MediaError) {
        try take(lane.opening.finish(), into: &lane, input: input)
    }

    private static func move(_ sample: Sample, by session: MediaTime) throws(MediaError) -> Sample {
        guard session != .zero else { return sample }
        do throws(MediaTimeError) {
            let shift = try session.ticks(in: sample.timeBase, rounding: .halfAwayFromZero)
            func moved(_ ticks: Int64?) throws(MediaTimeError) -> Int64? {
                guard let ticks else { return nil }
                let (result, overflow) = ticks.subtractingReportingOverflow(shift)
                guard !overflow else { throw .overflow }
                return result
            }
            return sample.retimed(
                pts: try moved(sample.pts), dts: try moved(sample.dts), duration: sample.duration,
                timeBase: sample.timeBase)
        } catch {
            throw MediaError(
                .timing, .invalidData, "A sample cannot be moved by the session's start \(session): \(error).")
        }
    }

    private static func checkRising(
        _ sample: Sample, after last: (ticks: Int64, unit: TimeBase)?, input: Int
    ) throws(MediaError) {
        guard let time = sample.dts ?? sample.pts else {
            throw MediaError(.timing, .invalidData, "A sample of input \(input) has no time.")
        }
        if let pts = sample.pts, let dts = sample.dts, pts < dts {
            throw MediaError(
                .timing, .invalidData,
                "A sample of input \(input) is to be shown (\(pts)) before it is decoded (\(dts)).")
        }
        guard let last else { return }
        guard order(last.ticks, last.unit, time, sample.timeBase) == .ascending else {
            throw MediaError(
                .timing, .invalidData,
                "The decode times of input \(input) do not rise: \(last.ticks) × \(last.unit), then \(time) × \(sample.timeBase)."
            )
        }
    }

    /// Exact: Int64 × Int32 × Int32 needs 125 bits.
    private static func order(_ a: Int64, _ aUnit: TimeBase, _ b: Int64, _ bUnit: TimeBase) -> MediaTime.Ordering {
        let left = Int128(a) * Int128(aUnit.numerator) * Int128(bUnit.denominator)
        let right = Int128(b) * Int128(bUnit.numerator) * Int128(aUnit.denominator)
        return left < right ? .ascending : left == right ? .same : .descending
    }

    // MARK: Writing

    /// Blocks until a sample may be written or the end is reached.
    func next() -> Next {
        condition.lock()
        defer { wake() }
        while true {
            guard state.status == .writing else { return .stopped }
            if let index = candidate(), let sample = state.lanes[index].removeFirst() { return .sample(sample, index) }
            if state.lanes.allSatisfy({ $0.isFinished && $0.count == 0 }), state.isFinishing { return .finished }
            condition.wait()
        }
    }

    /// The input whose first sample is the next to be written; `nil` while a dense input might still bring an earlier one.
    private func candidate() -> Int? {
        var best: Int?
        for index in state.lanes.indices {
            guard let sample = state.lanes[index].first, let time = sample.dts ?? sample.pts else { continue }
            guard let current = best, let other = state.lanes[current].first, let otherTime = other.dts ?? other.pts
            else {
                best = index
                continue
            }
            if Self.order(time, sample.timeBase, otherTime, other.timeBase) == .ascending { best = index }
        }
        guard best != nil else { return nil }
        let anyFull = state.lanes.contains { state.isFull($0) }
        let waits = state.lanes.contains { $0.count == 0 && !$0.isFinished && !($0.isSparse && anyFull) }
        return waits ? nil : best
    }
}
