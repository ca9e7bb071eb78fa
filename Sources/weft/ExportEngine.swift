internal import ClusterProtocol
internal import Coordinator
internal import Foundation

/// Runs an export for the command line and tells how far it is.
enum ExportEngine {
    /// Exports, and returns when the job is done and proved.
    ///
    /// - Parameters:
    ///   - interruption: asked for a clean stop: ends with a failure of boundary `cancelled` and exit code 130 whose advice
    ///     tells how to go on.
    ///   - events: called from a thread of its own, a few times a second.
    /// - Throws: the failure that ended the job.
    static func run(
        _ request: ExportRequest, interruption: Interruption, events: @escaping @Sendable (ExportEvent) -> Void
    ) async throws(Failure) -> JobReport {
        let session = ExportSession(
            ExportOrder(
                source: request.source, destination: request.destination, settings: request.settings,
                stated: request.stated, workers: request.workers, overwrite: request.overwrite, resume: request.resume,
                stateDirectory: request.stateDirectory, executable: try executablePath()))
        interruption.onRequest { session.cancel() }
        let watch = ProgressWatch(session, events)
        watch.start()
        defer { watch.stop() }
        return try await BlockingThread.run("export") { () throws(Failure) in try session.run() }
    }

    /// This program, whose hidden `slot` command is each worker's process.
    static func executablePath() throws(Failure) -> String {
        guard let path = Bundle.main.executablePath else {
            throw Failure(
                .resources, "The program cannot find its own file to start slots from.", fault: .environment)
        }
        return path
    }
}

/// Looks at a running export a few times a second and says what it sees.
private final class ProgressWatch: Sendable {
    private let session: ExportSession
    private let events: @Sendable (ExportEvent) -> Void
    private let stopped = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(_ session: ExportSession, _ events: @escaping @Sendable (ExportEvent) -> Void) {
        self.session = session
        self.events = events
    }

    func start() {
        let thread = Thread { [self] in
            var rate = FrameRateGauge()
            let began = Date()
            repeat { look(&rate, began: began) } while stopped.wait(timeout: .now() + 0.2) == .timedOut
            for notice in session.takeNotices() { events(.notice(notice)) }
            ended.signal()
        }
        thread.name = "weft-progress"
        thread.start()
    }

    func stop() {
        stopped.signal()
        ended.wait()
    }

    private func look(_ rate: inout FrameRateGauge, began: Date) {
        for notice in session.takeNotices() { events(.notice(notice)) }
        let snapshot = session.snapshot
        var progress = ExportProgress()
        progress.stage =
            switch session.currentStage {
            case .opening: .opening
            case .planning: .planning
            case .encoding: .encoding
            case .stitching: .stitching
            case .proving: .proving
            }
        progress.framesDone = snapshot.framesDone
        progress.isEstimate = snapshot.isEstimate
        progress.framesTotal = snapshot.framesExpected > 0 ? snapshot.framesExpected : nil
        progress.secondsDone = snapshot.secondsDone
        progress.secondsTotal = snapshot.secondsTotal > 0 ? snapshot.secondsTotal : nil
        progress.segmentsDone = snapshot.segmentsDone
        progress.segmentsTotal = snapshot.segmentsTotal > 0 ? snapshot.segmentsTotal : nil
        progress.segmentsStitched = snapshot.segmentsStitched
        progress.slotsBusy = snapshot.slotsBusy
        progress.slotsTotal = snapshot.slotsTotal
        progress.bytes = snapshot.bytes
        progress.elapsed = Date().timeIntervalSince(began)
        progress.framesPerSecond = rate.rate(frames: snapshot.framesDone, at: progress.elapsed)
        progress.remaining = snapshot.remaining
        events(.progress(progress))
    }
}

/// Frames a second over the last ten seconds.
private struct FrameRateGauge {
    private var marks: [(time: Double, frames: Int)] = []

    mutating func rate(frames: Int, at time: Double) -> Double {
        marks.append((time, frames))
        while let first = marks.first, marks.count > 2, time - first.time > 10 { marks.removeFirst() }
        guard let first = marks.first, time > first.time else { return 0 }
        return max(0, Double(frames - first.frames) / (time - first.time))
    }
}
