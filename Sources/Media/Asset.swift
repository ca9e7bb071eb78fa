internal import Foundation
internal import MediaTime
internal import Synchronization

/// A promise about a file or a URL: making one does no I/O.
///
/// Properties load when they are asked for, on a thread of the asset's own. Several can be asked for at once and share one opening;
/// each has its own status. What is loaded stays. Cancelling the task that waits gives up its wait; when nobody waits any more the
/// work is stopped too.
public final class Asset: Sendable {
    /// A path, or an http(s) URL.
    public let location: String
    /// libavformat's options for opening.
    public let options: [String: String]
    private let loader: AssetLoader

    /// - Parameter location: a path, or an http(s) URL.
    public init(location: String, options: [String: String] = [:]) {
        self.location = location
        self.options = options
        loader = AssetLoader(location: location, options: options)
    }

    /// The property's value, loaded when it is not yet there.
    ///
    /// - Throws: what went wrong, the same for every later call; reason `.cancelled` when the task was cancelled.
    public func load<Value: Sendable>(_ property: AssetProperty<Value>) async throws(MediaError) -> Value {
        let ticket = loader.newTicket()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loader.enter(ticket, property: property.name, work: property.work, continuation)
            }
        } onCancel: {
            loader.leave(ticket)
        }
        guard let value = property.read(try result.get()) else {
            throw MediaError(.asset, .other, "\(location) has no \(property.name).")
        }
        return value
    }

    /// Several properties at once.
    public func load<First: Sendable, each Value: Sendable>(
        _ first: AssetProperty<First>, _ properties: repeat AssetProperty<each Value>
    ) async throws(MediaError) -> (First, repeat each Value) {
        (try await load(first), repeat try await load(each properties))
    }

    /// What is known about a property; does no I/O and starts none.
    public func status<Value>(of property: AssetProperty<Value>) -> AssetProperty<Value>.Status {
        switch loader.stage(of: property.name, work: property.work) {
        case .unknown: .unknown
        case .loading: .loading
        case .cancelled: .cancelled
        case .failed(let error): .failed(error)
        case .loaded(let findings): property.read(findings).map { .loaded($0) } ?? .unknown
        }
    }

    /// Stops what is being loaded: everybody who waits gets reason `.cancelled`.
    public func cancelLoading() { loader.cancelAll() }

    /// How often the file was opened so far.
    package var openings: Int { loader.openings }
}

/// The state behind an asset: who waits for what, and what is known.
private final class AssetLoader: Sendable {
    typealias Outcome = Result<AssetFindings, MediaError>
    typealias Continuation = CheckedContinuation<Outcome, Never>

    enum Stage {
        case unknown, loading, cancelled
        case loaded(AssetFindings)
        case failed(MediaError)
    }

    private struct Waiter {
        var property: String
        var work: AssetWork
        var continuation: Continuation
    }

    private struct Run {
        var id: Int
        var interrupt: InterruptFlag
    }

    private struct State {
        var next = 0
        var waiters: [Int: Waiter] = [:]
        /// Cancelled before they began to wait.
        var left: Set<Int> = []
        var runs: [AssetWork: Run] = [:]
        var outcomes: [AssetWork: Outcome] = [:]
        /// Properties that somebody asked for, and whether the asking was cancelled.
        var asked: [String: Bool] = [:]
        var openings = 0
    }

    private let location: String
    private let options: [String: String]
    private let state = Mutex(State())

    init(location: String, options: [String: String]) {
        self.location = location
        self.options = options
    }

    var openings: Int { state.withLock { $0.openings } }

    func newTicket() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    private static var cancelled: Outcome {
        .failure(MediaError(.cancelled, .cancelled, "Loading was cancelled."))
    }

    func enter(_ ticket: Int, property: String, work: AssetWork, _ continuation: Continuation) {
        let (ready, run) = state.withLock { state -> (Outcome?, Run?) in
            if let outcome = state.outcomes[work] {
                state.asked[property] = false
                return (outcome, nil)
            }
            if state.left.remove(ticket) != nil {
                if state.asked[property] == nil { state.asked[property] = true }
                return (Self.cancelled, nil)
            }
            state.asked[property] = false
            state.waiters[ticket] = Waiter(property: property, work: work, continuation: continuation)
            guard state.runs[work] == nil else { return (nil, nil) }
            state.next += 1
            state.openings += 1
            let run = Run(id: state.next, interrupt: InterruptFlag())
            state.runs[work] = run
            return (nil, run)
        }
        if let ready { continuation.resume(returning: ready) }
        if let run { start(run, work) }
    }

    /// A waiter gives up. The last one for a piece of work stops it.
    func leave(_ ticket: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let waiter = state.waiters.removeValue(forKey: ticket) else {
                state.left.insert(ticket)
                return nil
            }
            if !state.waiters.values.contains(where: { $0.property == waiter.property }) {
                state.asked[waiter.property] = true
            }
            if !state.waiters.values.contains(where: { $0.work == waiter.work }) {
                state.runs.removeValue(forKey: waiter.work)?.interrupt.interrupt()
            }
            return waiter
        }
        waiter?.continuation.resume(returning: Self.cancelled)
    }

    func cancelAll() {
        let tickets = state.withLock { Array($0.waiters.keys) }
        for ticket in tickets { leave(ticket) }
    }

    func stage(of property: String, work: AssetWork) -> Stage {
        state.withLock { state in
            guard let wasCancelled = state.asked[property] else { return .unknown }
            switch state.outcomes[work] {
            case .success(let findings): return .loaded(findings)
            case .failure(let error): return .failed(error)
            case nil: return wasCancelled ? .cancelled : .loading
            }
        }
    }

    private func start(_ run: Run, _ work: AssetWork) {
        // Opening blocks on a disk or a network: never on the cooperative pool.
        let thread = Thread { [self] in
            let outcome: Outcome
            do throws(MediaError) {
                outcome = .success(try perform(work, run.interrupt))
            } catch {
                outcome = .failure(error)
            }
            finish(run, work, outcome)
        }
        thread.name = "weft asset"
        thread.start()
    }

    private func finish(_ run: Run, _ work: AssetWork, _ outcome: Outcome) {
        let waiters = state.withLock { state -> [Waiter] in
            // A run that was stopped says nothing about the asset.
            guard state.runs[work]?.id == run.id else { return [] }
            state.runs[work] = nil
            state.outcomes[work] = outcome
            let done = state.waiters.filter { $0.value.work == work }
            for ticket in done.keys { state.waiters[ticket] = nil }
            return Array(done.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: outcome) }
    }

    private func perform(_ work: AssetWork, _ interrupt: InterruptFlag) throws(MediaError) -> AssetFindings {
        let demuxer = try Demuxer(location: location, options: options, interrupt: interrupt)
        var findings = AssetFindings(demuxer)
        if work == .measure { findings.measuredDuration = try Self.measure(demuxer) }
        return findings
    }

    private static func measure(_ demuxer: Demuxer) throws(MediaError) -> MediaTime {
        var first: [Int: Int64] = [:]
        var last: [Int: Int64] = [:]
        let timed = demuxer.tracks.filter { $0.mediaType == .video || $0.mediaType == .audio }
        let tracks = timed.isEmpty ? demuxer.tracks : timed
        demuxer.select(tracks: tracks.filter { !$0.disposition.contains(.attachedPicture) }.map(\.index))
        while let sample = try demuxer.readSample() {
            guard let pts = sample.pts, !sample.isDiscarded else { continue }
            first[sample.track] = min(first[sample.track] ?? pts, pts)
            let (end, overflow) = pts.addingReportingOverflow(sample.duration)
            last[sample.track] = max(last[sample.track] ?? pts, overflow ? pts : end)
        }
        var start: MediaTime?
        var end: MediaTime?
        do throws(MediaTimeError) {
            for (track, ticks) in first {
                let time = try MediaTime(ticks: ticks, in: demuxer.tracks[track].timeBase)
                start = start.map { min($0, time) } ?? time
            }
            for (track, ticks) in last {
                let time = try MediaTime(ticks: ticks, in: demuxer.tracks[track].timeBase)
                end = end.map { max($0, time) } ?? time
            }
            guard let start, let end else { return .zero }
            return try end.subtracting(start)
        } catch {
            throw MediaError(.timing, .invalidData, "The times of \(demuxer.location) cannot be added up: \(error).")
        }
    }
}

extension AssetFindings {
    fileprivate init(_ demuxer: Demuxer) {
        containerName = demuxer.containerName
        tracks = demuxer.tracks
        duration = demuxer.duration ?? .indefinite
        startTime = demuxer.startTime ?? .indefinite
        metadata = demuxer.metadata
        chapters = demuxer.chapters
        byteCount = demuxer.byteCount
        isSeekable = demuxer.isSeekable
    }
}
