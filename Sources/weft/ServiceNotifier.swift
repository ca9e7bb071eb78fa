internal import Foundation
internal import Synchronization

/// Tells the service manager that started this process how it is (sd_notify(3)): one datagram each to the socket that
/// `NOTIFY_SOCKET` names. Without one, nothing is told.
final class ServiceNotifier: Sendable {
    private let address: NotifyAddress?
    /// How often systemd wants a sign of life; `nil` where it does not.
    private let interval: Double?
    private let isStopping = Atomic<Bool>(false)

    init(environment: [String: String]) {
        address = environment["NOTIFY_SOCKET"].flatMap { NotifyAddress($0) }
        interval = address == nil ? nil : Self.interval(environment)
    }

    /// Half of the limit, as sd_watchdog_enabled(3) advises. The limit may be meant for another process.
    private static func interval(_ environment: [String: String]) -> Double? {
        guard let text = environment["WATCHDOG_USEC"], let limit = UInt64(text), limit > 0 else { return nil }
        if let process = environment["WATCHDOG_PID"], process != String(getpid()) { return nil }
        return max(0.01, Double(limit) / 2e6)
    }

    func ready() { address?.send("READY=1") }

    /// One line for `systemctl status`.
    func status(_ words: String) {
        guard !isStopping.load(ordering: .relaxed) else { return }
        address?.send("STATUS=\(TextTable.printable(words))")
    }

    func stopping(_ words: String) {
        isStopping.store(true, ordering: .relaxed)
        address?.send("STOPPING=1\nSTATUS=\(TextTable.printable(words))")
    }

    /// Gives signs of life for as long as `pulse` changes: a process whose work hangs is to be started again, and not only
    /// one that is gone. `pulse` is called on a thread of its own and may take a while; `nil` counts as life only before the
    /// first number.
    func watch(_ pulse: @escaping @Sendable () -> Int?) {
        guard let address, let interval else { return }
        let thread = Thread {
            var last: Int?
            while true {
                let current = pulse()
                if last == nil || (current != nil && current != last) { address.send("WATCHDOG=1") }
                last = current ?? last
                Thread.sleep(forTimeInterval: interval)
            }
        }
        thread.name = "watchdog"
        thread.start()
    }
}

/// A socket of the file system (`/run/…`) or of the abstract name space (`@…`, unix(7)).
struct NotifyAddress: Hashable, Sendable {
    private let name: [UInt8]

    /// A service manager that does not read must not hold up the service.
    private static let flags = Int32(MSG_DONTWAIT)

    /// `nil` for what is no such name or does not fit.
    init?(_ path: String) {
        guard let first = path.first, first == "/" || first == "@", path.utf8.count > 1 else { return nil }
        var name = Array(path.utf8)
        // An abstract name begins with a zero byte.
        if first == "@" { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        self.name = name
    }

    /// Whoever does not listen gets nothing; that is no reason to stop.
    func send(_ state: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        #if canImport(Darwin)
            let type = SOCK_DGRAM
        #else
            let type = Int32(SOCK_DGRAM.rawValue)
        #endif
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(state.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                _ = sendto(descriptor, bytes, bytes.count, Self.flags, generic, length)
            }
        }
    }
}
