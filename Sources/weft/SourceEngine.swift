internal import ClusterProtocol

/// What the commands that only look at media do: `probe`, `plan`, `verify`, `capabilities`, one file each.
enum SourceEngine {}

extension Failure {
    init(notBuiltIn command: String) {
        self.init(
            .resources, "This build has no engine for '\(command)'.", advice: "Use a complete build.",
            fault: .environment)
    }
}
