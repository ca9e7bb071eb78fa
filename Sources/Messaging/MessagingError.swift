internal import CZeroMQ

/// What went wrong with a socket, an address, a key or a delivery.
package struct MessagingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An errno value, the system's or one of libzmq's own.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// No connected peer has that identity.
        package static let unroutable = Code(rawValue: Int32(EHOSTUNREACH))
        /// More is queued than the limits allow: the peer does not keep up.
        package static let congested = Code(rawValue: Int32(EAGAIN))
        /// The context was shut down.
        package static let terminated = Code(rawValue: weft_zmq_eterm())
        /// The endpoint was stopped.
        package static let stopped = Code(rawValue: Int32(ESHUTDOWN))
        package static let addressInUse = Code(rawValue: Int32(EADDRINUSE))
        package static let addressNotAvailable = Code(rawValue: Int32(EADDRNOTAVAIL))
        package static let nameTooLong = Code(rawValue: Int32(ENAMETOOLONG))
        /// More frames or bytes than the options allow.
        package static let tooLarge = Code(rawValue: Int32(EMSGSIZE))
        package static let invalid = Code(rawValue: Int32(EINVAL))
        package static let notPermitted = Code(rawValue: Int32(EACCES))
    }

    package let code: Code
    /// What was tried, for a sentence: "bind to tcp://…".
    package let operation: String
    /// libzmq's or our own words for the code.
    package let detail: String

    init(_ code: Code, _ operation: String, _ detail: String? = nil) {
        self.code = code
        self.operation = operation
        self.detail = detail ?? String(cString: zmq_strerror(code.rawValue))
    }

    /// The error that libzmq's last call on this thread left behind.
    static func last(_ operation: String) -> MessagingError {
        MessagingError(Code(rawValue: zmq_errno()), operation)
    }

    package var description: String { "Could not \(operation): \(detail)." }
}

/// The one way from a C return value to a thrown error: -1 throws what `zmq_errno` says. Calls that a signal interrupted
/// are made again.
@discardableResult
func check(_ operation: @autoclosure () -> String, _ call: () -> Int32) throws(MessagingError) -> Int32 {
    while true {
        let result = call()
        if result != -1 { return result }
        if zmq_errno() != Int32(EINTR) { throw .last(operation()) }
    }
}
