internal import ClusterProtocol

extension SourceEngine {
    static func plan(_ request: PlanRequest) async throws(Failure) -> PlanReport {
        throw Failure(notBuiltIn: "plan")
    }
}
