internal import ClusterProtocol

extension SourceEngine {
    static func verify(_ request: VerifyRequest) async throws(Failure) -> VerifyReport {
        throw Failure(notBuiltIn: "verify")
    }
}
