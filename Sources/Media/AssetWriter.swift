internal import Foundation
public import MediaTime
internal import Synchronization

/// Writes tracks into a container file that gets its name only when it is whole.
///
/// The order of calls: make it, add inputs, `startWriting`, `startSession`, append to the inputs while they are ready, `finishWriting`.
/// A thread of the writer's own interleaves the tracks by decode time and does all the writing. Until `finishWriting` has made the file
/// durable it lies under a temporary name beside the target; failing and cancelling remove it.
public final class AssetWriter: Sendable {
    public enum Status: String, Sendable, Hashable {
        /// Inputs may be added.
        case unknown
        case writing
        /// The file lies under its name, durable.
        case completed
        /// `error` says why; no file was left.
        case failed
        case cancelled
    }

    /// The name that the file gets.
    public let path: String
    public let container: Container
    private let options: [String: String]
    private let queue: AssetWriterQueue
    private let setup = Mutex(Setup())
    private let result = ResultBox()
    private let file: FileBox

    private struct Setup {
        var inputs: [AssetWriterInput] = []
        var metadata = Metadata()
        var chapters: [Chapter] = []
        var hasStarted = false
    }

    /// - Parameters:
    ///   - options: the muxer's, see libavformat.
    ///   - overwrites: an existing file is replaced, at the very end and in one step.
    /// - Throws: `.alreadyExists`, `.notFound` (no such directory), `.notPermitted`, `.noSpace`.
    public convenience init(
        path: String, container: Container, options: [String: String] = [:], overwrites: Bool = false
    ) throws(MediaError) {
        try self.init(
            path: path, container: container, options: options, overwrites: overwrites, limits: .init())
    }

    init(
        path: String, container: Container, options: [String: String], overwrites: Bool, limits: AssetWriterQueue.Limits
    ) throws(MediaError) {
        self.path = path
        self.container = container
        self.options = options
        queue = AssetWriterQueue(limits: limits)
        file = FileBox(try PartialFile(target: path, overwrites: overwrites))
    }

    deinit {
        // Nobody can finish it any more.
        queue.end(.cancelled)
    }

    /// Where the writer stands; from any thread.
    public var status: Status { queue.status }
    /// Why the status is `.failed`.
    public var error: MediaError? { queue.error }

    /// - Throws: `.unsupported` when the container cannot hold the input's format: before any work is done.
    public func add(_ input: AssetWriterInput) throws(MediaError) {
        try queue.require(.unknown, "An input can be added only before writing starts.")
        let codec = input.description.format.codecName
        guard container.canHold(codec: codec) else {
            throw MediaError(.format, .unsupported, "\(container) cannot hold \(codec).")
        }
        let index = try queue.addLane(isSparse: input.description.isSparse)
        guard input.join(queue, at: index) else {
            throw MediaError(.finalization, .invalidSettings, "The input belongs to a writer already.")
        }
        setup.withLock { $0.inputs.append(input) }
    }

    /// Tags of the whole file.
    ///
    /// - Throws: `.invalidSettings` after `startWriting`.
    public func set(metadata: Metadata) throws(MediaError) {
        try queue.require(.unknown, "Tags can be set only before writing starts.")
        setup.withLock { $0.metadata = metadata }
    }

    /// Chapters, in order; times on the time line of the samples.
    ///
    /// - Throws: `.invalidSettings` after `startWriting`.
    public func set(chapters: [Chapter]) throws(MediaError) {
        try queue.require(.unknown, "Chapters can be set only before writing starts.")
        setup.withLock { $0.chapters = chapters }
    }

    /// Starts the writer's thread. No input is ready before `startSession`.
    ///
    /// - Throws: `.invalidSettings` when it was started before or has no inputs. What the muxer refuses shows as status `.failed`.
    public func startWriting() throws(MediaError) {
        try queue.start()
        let plan = setup.withLock { setup in
            setup.hasStarted = true
            return Plan(setup.inputs.map(\.description), setup.metadata, setup.chapters)
        }
        let thread = Thread { [queue, file, result, path, container, options] in
            let outcome = Self.run(queue, file.file, plan, container, options, path)
            result.set(outcome)
        }
        thread.name = "weft writer"
        thread.start()
    }

    /// The presentation time that becomes zero in the file.
    public func startSession(at time: MediaTime = .zero) throws(MediaError) { try queue.startSession(at: time) }

    /// Writes what is queued, the index, and makes the file durable under its name.
    ///
    /// - Returns: the size of the file in bytes.
    /// - Throws: what made the status `.failed`, or an error of use that leaves the status as it is.
    @discardableResult
    public func finishWriting() async throws(MediaError) -> Int64 {
        do throws(MediaError) {
            try queue.beginFinishing()
        } catch {
            // The thread removes the file of a writer that failed; wait for that too.
            if queue.status == .failed { _ = await result.value() }
            throw error
        }
        return try await result.value().get()
    }

    /// Stops and removes the temporary file; returns when it is gone. A writer that is completed or failed stays so.
    public func cancelWriting() async {
        queue.end(.cancelled)
        if setup.withLock({ $0.hasStarted }) { _ = await result.value() } else { file.file.discard() }
    }

    // MARK: The writer's thread

    private struct Plan: Sendable {
        var inputs: [AssetWriterInput.Description]
        var metadata: Metadata
        var chapters: [Chapter]

        init(_ inputs: [AssetWriterInput.Description], _ metadata: Metadata, _ chapters: [Chapter]) {
            self.inputs = inputs
            self.metadata = metadata
            self.chapters = chapters
        }
    }

    private static func run(
        _ queue: AssetWriterQueue, _ file: PartialFile, _ plan: Plan, _ container: Container,
        _ options: [String: String], _ path: String
    ) -> Result<Int64, MediaError> {
        do throws(MediaError) {
            if let size = try write(queue, file, plan, container, options) {
                queue.end(.completed)
                return .success(size)
            }
        } catch {
            queue.end(.failed, error)
        }
        file.discard()
        return .failure(
            queue.error ?? MediaError(.cancelled, .cancelled, "Writing \(path) was cancelled."))
    }

    /// - Returns: `nil` when it was stopped.
    private static func write(
        _ queue: AssetWriterQueue, _ file: PartialFile, _ plan: Plan, _ container: Container,
        _ options: [String: String]
    ) throws(MediaError) -> Int64? {
        let muxer = try Muxer(path: file.path, container: container, options: options)
        var tracks: [Int] = []
        for input in plan.inputs {
            tracks.append(
                try muxer.addTrack(
                    format: input.format, timeBase: input.timeBase, metadata: input.metadata,
                    disposition: input.disposition, language: input.language, attachments: input.attachments,
                    averageFrameRate: input.averageFrameRate))
        }
        try muxer.set(metadata: plan.metadata)
        try muxer.set(chapters: plan.chapters)
        try muxer.writeHeader()
        while true {
            switch queue.next() {
            case .stopped: return nil
            case .sample(let sample, let input): try muxer.write(sample, track: tracks[input])
            case .finished:
                let size = try muxer.finish()
                guard queue.beginCommitting() else { return nil }
                try file.commit()
                return size
            }
        }
    }
}

/// The writer's thread is the only one that uses the file after `startWriting`, and nobody else before it.
private final class FileBox: @unchecked Sendable {
    let file: PartialFile

    init(_ file: PartialFile) { self.file = file }
}

/// The thread's result, for whoever waits.
private final class ResultBox: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Result<Int64, MediaError>, Never>])
        case done(Result<Int64, MediaError>)
    }

    private let state = Mutex(State.waiting([]))

    func set(_ result: Result<Int64, MediaError>) {
        let waiters = state.withLock { state -> [CheckedContinuation<Result<Int64, MediaError>, Never>] in
            guard case .waiting(let waiters) = state else { return [] }
            state = .done(result)
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }

    func value() async -> Result<Int64, MediaError> {
        await withCheckedContinuation { continuation in
            let done = state.withLock { state -> Result<Int64, MediaError>? in
                switch state {
                case .done(let result): return result
                case .waiting(let waiters):
                    state = .waiting(waiters + [continuation])
                    return nil
                }
            }
            if let done { continuation.resume(returning: done) }
        }
    }
}
