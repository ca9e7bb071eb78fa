/// Why something did not work: where it broke, whose fault it is, and what to do next.
///
/// Adapters throw typed errors of their own; at the boundary of a job each becomes one of these, which travels over the
/// wire, into the job store, into the report and to the user.
package struct Failure: Error, Hashable, Sendable, Codable {
    /// The border that was crossed badly (DESIGN.md, Failures).
    package enum Boundary: String, Hashable, Sendable, Codable, CaseIterable {
        case asset, timing, format, decoder, filter, encoder, hardware, transport, storage, finalization, resources
        case cancelled
    }

    package enum Retry: String, Hashable, Sendable, Codable, CaseIterable {
        /// The same worker may try again.
        case retry
        /// Another worker may succeed.
        case elsewhere
        /// No worker will succeed with this source and these settings.
        case giveUp = "give-up"
    }

    package enum Fault: String, Hashable, Sendable, Codable, CaseIterable {
        case source, settings, worker, environment
    }

    package var boundary: Boundary
    package var retry: Retry
    package var fault: Fault
    /// One sentence: what happened.
    package var message: String
    /// One sentence: what to do.
    package var advice: String
    /// The underlying library's or system's code, 0 when there is none.
    package var code: Int32
    /// The last lines of the codec's own log, oldest first.
    package var log: [String]
    /// sysexits(3) code that the command line ends with.
    package var exitCode: ExitCode

    private enum CodingKeys: String, CodingKey {
        case boundary, retry, fault, message, advice, code, log
        case exitCode = "exit_code"
    }

    package init(
        _ boundary: Boundary, _ message: String, advice: String = "", retry: Retry = .giveUp,
        fault: Fault = .source, code: Int32 = 0, log: [String] = [], exitCode: ExitCode = .jobFailed
    ) {
        self.boundary = boundary
        self.retry = retry
        self.fault = fault
        self.message = message
        self.advice = advice
        self.code = code
        self.log = log
        self.exitCode = exitCode
    }
}

/// The exit codes of `weft`, after sysexits(3).
package enum ExitCode: Int32, Hashable, Sendable, Codable, CaseIterable {
    case done = 0
    case jobFailed = 1
    case usage = 64
    case badSource = 65
    case noSource = 66
    case unreachable = 69
    case cannotCreate = 73
    case ioError = 74
    case temporary = 75
    case notPermitted = 77
    case badConfiguration = 78
    case interrupted = 130
}
