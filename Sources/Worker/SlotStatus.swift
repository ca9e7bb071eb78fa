internal import ClusterProtocol
internal import Foundation

/// What a slot tells its supervisor, a line at a time on standard output: that it lives, what it works on, and a number that
/// rises while anything moves. A process that is stopped or hung in a driver writes nothing or the same number.
struct SlotStatus: Hashable, Sendable {
    /// `nil` between leases.
    var lease: LeaseName?
    /// Seconds that `work` may stand still.
    var stallSeconds: Double
    var work: Int64

    /// `lease stall work`, `-` for no lease.
    var line: String { "\(lease.map(\.description) ?? "-") \(stallSeconds) \(work)\n" }

    init(lease: LeaseName?, stallSeconds: Double, work: Int64) {
        self.lease = lease
        self.stallSeconds = stallSeconds
        self.work = work
    }

    init?(line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 3, let stall = Double(words[1]), let work = Int64(words[2]) else { return nil }
        if words[0] == "-" {
            lease = nil
        } else {
            guard let id = LeaseName(String(words[0])) else { return nil }
            lease = id
        }
        stallSeconds = stall
        self.work = work
    }
}

/// Writes the status lines. A supervisor that does not read must not hold up the slot: the pipe does not block.
struct StatusPipe {
    init() {
        let flags = fcntl(STDOUT_FILENO, F_GETFL)
        if flags >= 0 { _ = fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK) }
    }

    func report(_ lease: LeaseName?, stall: Double, work: Int64) {
        let line = SlotStatus(lease: lease, stallSeconds: stall, work: work).line
        put(line)
    }

    func tell(_ note: SlotNote) { put(note.line) }

    private func put(_ line: String) {
        _ = line.utf8CString.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count - 1) }
    }
}

/// What a slot tells for the node's log, a line between those of its status.
package enum SlotNote: Hashable, Sendable {
    /// The coordinator answers.
    case connected
    /// The connection is gone; libzmq makes it anew.
    case disconnected
    /// One sentence about a lease.
    case lease(String)

    private static let mark = "# "

    var line: String {
        switch self {
        case .connected: Self.mark + "up\n"
        case .disconnected: Self.mark + "down\n"
        case .lease(let words):
            Self.mark + "lease " + words.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
        }
    }

    init?(line: Substring) {
        guard line.hasPrefix(Self.mark) else { return nil }
        let rest = line.dropFirst(Self.mark.count)
        if rest == "up" {
            self = .connected
        } else if rest == "down" {
            self = .disconnected
        } else if rest.hasPrefix("lease ") {
            self = .lease(String(rest.dropFirst("lease ".count)))
        } else {
            return nil
        }
    }
}
