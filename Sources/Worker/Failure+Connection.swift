package import ClusterProtocol

/// Why there is no talking with a coordinator, in the words that nodes and clients share.
extension Failure {
    package static func noAddress(_ address: String, _ error: any Error) -> Failure {
        Failure(
            .transport, "\(address) is no address of a coordinator: \(error)",
            advice: "Write tcp://HOST:PORT or ipc://PATH.", fault: .settings, exitCode: .usage)
    }

    package static func noAnswer(at address: String) -> Failure {
        Failure(
            .transport, "No coordinator answers at \(address).",
            advice: "Start one with `weft coordinator`, or name another with --coordinator.", retry: .retry,
            fault: .environment, exitCode: .unreachable)
    }

    package static func brokenConnection(to address: String) -> Failure {
        Failure(
            .transport, "\(address) takes connections and ends them before a word is said.",
            advice: "Look whether the coordinator behind it runs, and whether --key is a key for that coordinator.",
            retry: .retry, fault: .environment, exitCode: .unreachable)
    }
}
