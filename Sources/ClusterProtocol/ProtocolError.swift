/// Why bytes from a peer were refused.
package struct ProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        /// The envelope's version is not ours.
        case version(Int)
        /// No message of this direction has that type.
        case unknownType(String)
        /// Not JSON, a field missing or of the wrong kind, a count that disagrees with the bytes.
        case malformed
        /// A size, count or length above `ProtocolLimits`, or a number outside its range.
        case limit
    }

    package let reason: Reason
    /// One sentence for the log and for the peer.
    package let detail: String

    package init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    static func malformed(_ detail: String) -> ProtocolError { ProtocolError(.malformed, detail) }
    static func limit(_ detail: String) -> ProtocolError { ProtocolError(.limit, detail) }

    package var description: String { detail }

    /// The refusal as the peer and the user see it.
    package var failure: Failure {
        let advice =
            switch reason {
            case .version, .unknownType: "Run the same version of weft on both machines."
            case .malformed, .limit: "The peer sent a message that breaks the protocol; look at its version and log."
            }
        return Failure(.transport, detail, advice: advice, fault: .worker, exitCode: .unreachable)
    }
}
