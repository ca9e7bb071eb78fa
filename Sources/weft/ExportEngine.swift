internal import ClusterProtocol

/// The seam between the command line and what exports.
enum ExportEngine {
    /// Exports, and returns when the job is done and proved.
    ///
    /// - Parameters:
    ///   - interruption: asked for a clean stop: end with a failure of boundary `cancelled` and exit code 130 whose advice
    ///     tells how to go on.
    ///   - events: may be called from any thread, as often as is convenient.
    /// - Throws: the failure that ended the job.
    static func run(
        _ request: ExportRequest, interruption: Interruption, events: @escaping @Sendable (ExportEvent) -> Void
    ) async throws(Failure) -> ExportReport {
        throw Failure(notBuiltIn: "export")
    }
}

/// The seam of a slot: runs leases from the coordinator it is told until that says to stop.
enum SlotEngine {
    static func run(_ request: SlotRequest) async throws(Failure) -> ExitCode {
        throw Failure(notBuiltIn: "slot")
    }
}

extension Failure {
    init(notBuiltIn command: String) {
        self.init(
            .resources, "This build has no engine for '\(command)'.", advice: "Use a complete build.",
            fault: .environment)
    }
}
