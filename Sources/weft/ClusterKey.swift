internal import ClusterProtocol
internal import Messaging

/// Reads the key that `--key` names.
enum ClusterKey {
    static func security(_ path: String) throws(Failure) -> ClientSecurity {
        let file: KeyFile
        do {
            file = try KeyFile(path: path)
        } catch {
            throw Failure(
                .transport, "\(error)", advice: "Use a file that `weft keys new` has made.", fault: .settings,
                exitCode: .badConfiguration)
        }
        guard let security = file.clientSecurity else {
            throw Failure(
                .transport, "\(path) does not name the coordinator's key.",
                advice: "Use a file that `weft keys new` has made for a worker, a client or an observer.",
                fault: .settings, exitCode: .badConfiguration)
        }
        return security
    }
}
