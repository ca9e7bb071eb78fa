internal import ClusterProtocol

extension SourceEngine {
    static func probe(_ source: String) async throws(Failure) -> ProbeReport {
        throw Failure(notBuiltIn: "probe")
    }
}
