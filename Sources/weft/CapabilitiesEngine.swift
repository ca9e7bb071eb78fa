internal import ClusterProtocol

extension SourceEngine {
    static func capabilities() async throws(Failure) -> CapabilitiesReport {
        throw Failure(notBuiltIn: "capabilities")
    }
}
