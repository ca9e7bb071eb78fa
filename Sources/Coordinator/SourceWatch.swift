internal import ClusterProtocol
internal import SourceAccess

extension SourceReference {
    /// Reads the file's fingerprint again. Blocks on the disk.
    /// - Returns: why the source is no longer what was planned; `nil` while it is (or is a URL, which has no fingerprint).
    func changeSincePlanned() -> Failure? {
        guard !location.contains("://") else { return nil }
        let found: Fingerprint
        do {
            found = try Fingerprint.of(path: location)
        } catch {
            return error
        }
        guard found.hash != fingerprint.hash || found.size != fingerprint.size else { return nil }
        return Failure(
            .asset, "\(location) changed while it was exported.",
            advice: "Leave the source alone while it is exported, and submit it again.", fault: .source,
            exitCode: .badSource)
    }
}

extension Failure {
    static func notPermitted(_ message: String) -> Failure {
        Failure(
            .transport, message, advice: "Use a key with the right role; `weft keys` makes them.", fault: .settings,
            exitCode: .notPermitted)
    }
}
