import Foundation
import Synchronization

/// Stands between two ends of TCP connections and does to them what networks do: delays, alters, stalls, slows and resets.
///
/// Where the kernel has no netem, this is what a test has; and it does to one connection what netem does to a whole link.
package final class TCPRelay: Sendable {
    package enum Direction: String, Sendable, CaseIterable {
        case toServer, toClient
    }

    /// What happens to bytes on their way. Changes hold for connections that exist, too.
    package struct Conditions: Sendable {
        /// Seconds, each way.
        package var delay = 0.0
        /// One byte in so many is altered, at places that the seed decides.
        package var corruptsOneIn: Int?
        /// Connections are accepted and kept, but nothing passes this way: not even their end.
        package var stalled: Set<Direction> = []
        /// Bytes a second, each connection and way for itself.
        package var rate: Double?

        package init() {}
    }

    /// What has passed.
    package struct Tally: Sendable {
        package var connections = 0
        package var bytes = 0
        package var alteredBytes = 0
    }

    /// Where clients connect.
    package let port: UInt16
    private let state: Mutex<State>
    private let ended = DispatchSemaphore(value: 0)

    struct State {
        var conditions = Conditions()
        var tally = Tally()
        var resets = 0
        var isStopping = false
    }

    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Listens at `address`, and hands every connection on to a server.
    /// - Parameter port: 0 takes a free one.
    package init(
        listen address: String = "127.0.0.1", port: UInt16 = 0, server: String, serverPort: UInt16, seed: UInt64 = 1
    ) throws(Failed) {
        // A connection that is gone is an error of `send`, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let target = try SocketAddress(server, serverPort)
        let listener = try RelaySocket.listener(at: SocketAddress(address, port))
        self.port = RelaySocket.port(of: listener)
        state = Mutex(State())
        let thread = Thread { [self] in
            RelayLoop(listener: listener, target: target, seed: seed) { [self] body in state.withLock { body(&$0) } }
                .run()
            ended.signal()
        }
        thread.name = "relay"
        thread.start()
    }

    package var conditions: Conditions {
        get { state.withLock { $0.conditions } }
        set { state.withLock { $0.conditions = newValue } }
    }

    package var tally: Tally { state.withLock { $0.tally } }

    /// Ends every connection as a host does that has forgotten it: with RST (RFC 9293 §3.5.2).
    package func reset() { state.withLock { $0.resets += 1 } }

    package func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
        if isFirst { ended.wait() }
    }
}

/// An IPv4 address and a port.
struct SocketAddress: Sendable {
    var value = sockaddr_in()

    init(_ host: String, _ port: UInt16) throws(TCPRelay.Failed) {
        value.sin_family = sa_family_t(AF_INET)
        value.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &value.sin_addr) == 1 else {
            throw TCPRelay.Failed(description: "\(host) is no IPv4 address")
        }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: value) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
