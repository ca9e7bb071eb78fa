internal import ClusterProtocol
internal import Foundation
internal import SourceAccess

extension SourceReference {
    /// Whether the source is still what was planned, on the machine that planned it. Blocks on the disk or the network.
    ///
    /// - Parameter isThorough: read the fingerprint again; else only the file's size and time are looked at.
    /// - Returns: why it is not, also where it cannot be read any more; `nil` while it is, and where nothing tells.
    func changeSincePlanned(isThorough: Bool = true) -> Failure? {
        guard fingerprint.isKnown else { return nil }
        do {
            if isThorough { return try Fingerprint.of(location, isPatient: true) == fingerprint ? nil : changed }
            let found = try Fingerprint.glance(at: location)
            return found.size == fingerprint.size && found.modified == fingerprint.modified ? nil : changed
        } catch {
            return error
        }
    }

    /// Seconds for which a server may be away before that ends the job.
    private static let patience = 8.0

    /// As above, on a thread of its own: a server that cannot be reached is tried again for a while.
    func examine(then body: @escaping @Sendable (Failure?) -> Void) {
        let thread = Thread {
            let deadline = Date(timeIntervalSinceNow: Self.patience)
            var change = changeSincePlanned()
            while change?.exitCode == .temporary, Date() < deadline {
                Thread.sleep(forTimeInterval: 1)
                change = changeSincePlanned()
            }
            body(change)
        }
        thread.name = "weft-source"
        thread.start()
    }

    private var changed: Failure {
        Failure(
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
