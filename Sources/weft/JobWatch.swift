internal import ClusterProtocol
internal import Coordinator
internal import Foundation

/// Gives an export to a coordinator, and waits for it.
enum JobWatch {
    static func submit(
        _ request: ExportRequest, to cluster: ClusterRequest, priority: Int
    ) async throws(Failure) -> String {
        try await cluster.withClient { (client) throws(Failure) in
            let replies = try client.ask { number in
                .submit(
                    Submit(
                        request: number, settings: request.settings, source: request.source,
                        destination: request.destination, priority: priority, overwrite: request.overwrite,
                        stated: request.stated.sorted()))
            }
            guard case .submitted(let submitted) = replies.first else {
                throw Failure(.transport, "The coordinator gave no answer to the job.", exitCode: .unreachable)
            }
            return submitted.job
        }
    }

    /// Shows how far the job is until it is over. Ctrl-C ends the watching; the job goes on.
    static func wait(
        for job: String, at cluster: ClusterRequest, isQuiet: Bool, _ invocation: Invocation
    ) async throws -> JobReport {
        let style = TerminalStyle(isTerminal: StandardStream.error.isTerminal, environment: invocation.environment)
        let display = ProgressDisplay(style: style, isQuiet: isQuiet)
        display.start()
        defer { display.finish() }
        let interruption = Interruption.install()
        return try await cluster.withClient { (client) throws(Failure) in
            var idleness = Idleness()
            while true {
                let report = try client.job(job)
                display.handle(.progress(ExportProgress(report)))
                if report.state.isOver { return report }
                if let words = try idleness.words(report, client) { display.notice(words) }
                if interruption.isRequested {
                    throw Failure(
                        .cancelled, "The job \(job) goes on without being watched.",
                        advice: "`weft job \(job)` shows it, `weft cancel \(job)` ends it.", fault: .settings,
                        exitCode: .interrupted)
                }
                Thread.sleep(forTimeInterval: 0.2)
            }
        }
    }

    /// Prints the account of a job that is over.
    static func conclude(
        _ report: JobReport, _ request: ExportRequest, environment: [String: String]
    ) throws -> ExitCode {
        if let path = request.reportPath { try JSONOutput.write(report, to: path) }
        if request.json { try JSONOutput.print(report) }
        switch report.state {
        case .done:
            if !request.quiet {
                StandardStream.error.write(
                    report.summary(bytes: report.outputBytes, width: StandardStream.error.width))
            }
            return report.proof?.pass == true ? .done : .jobFailed
        case .cancelled:
            StandardStream.error.write("weft: the job \(report.job) was cancelled\n")
            return .jobFailed
        default:
            let style = TerminalStyle(isTerminal: StandardStream.error.isTerminal, environment: environment)
            let failure = report.failure ?? Failure(.resources, "The job \(report.job) failed.")
            StandardStream.error.write(FailureBlock(failure: failure, style: style).text)
            if report.segments > 0 {
                let retry = "segments are done and kept; `weft retry \(report.job)` goes on from them"
                StandardStream.error.write("  \(report.segmentsDone) of \(report.segments) \(retry)\n")
            }
            return failure.exitCode == .done ? .jobFailed : failure.exitCode
        }
    }
}

/// Why a job that somebody waits for does not go on.
private struct Idleness {
    private var rounds = 0
    private var told: String?
    /// Looks between two questions about the workers: one every two seconds.
    private static let roundsPerLook = 10

    /// - Returns: a sentence, when it is news.
    mutating func words(_ report: JobReport, _ client: CoordinatorClient) throws(Failure) -> String? {
        rounds += 1
        guard rounds % Self.roundsPerLook == 0 else { return nil }
        let current = try reason(report, client)
        defer { told = current }
        return current == told ? nil : current
    }

    private func reason(_ report: JobReport, _ client: CoordinatorClient) throws(Failure) -> String? {
        switch report.state {
        case .paused: return "The job is paused; `weft resume \(report.job)` goes on."
        case .running where report.segmentsDone + report.segmentsFailed < report.segments: break
        default: return nil
        }
        let there = try client.workers().filter { $0.state.isThere }
        if there.isEmpty { return "No worker is connected: start `weft worker` somewhere. The job waits." }
        if there.allSatisfy(\.isLeaving) {
            return "Every worker that is connected is leaving. The job waits for others."
        }
        if there.allSatisfy({ $0.state == .quarantined }) {
            return "Every worker is quarantined for a while; `weft events \(report.job)` says why."
        }
        return nil
    }
}

extension JobReport.State {
    var isOver: Bool { self == .done || self == .failed || self == .cancelled }
}

extension ExportProgress {
    init(_ report: JobReport) {
        self.init()
        switch report.state {
        case .queued, .planning, .paused: stage = .planning
        case .running: stage = .encoding
        case .stitching: stage = .stitching
        case .done, .failed, .cancelled: stage = .proving
        }
        framesDone = report.frames
        segmentsDone = report.segmentsDone
        segmentsTotal = report.segments > 0 ? report.segments : nil
        if report.segments > 0 {
            secondsTotal = report.duration.seconds
            secondsDone = report.duration.seconds * Double(report.segmentsDone) / Double(report.segments)
        }
        slotsBusy = report.slots
        slotsTotal = report.slots
        bytes = report.outputBytes
        elapsed = report.wallSeconds
        framesPerSecond = report.fps
        remaining = report.etaSeconds
    }
}
