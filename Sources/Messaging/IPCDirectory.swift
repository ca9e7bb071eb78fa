internal import Foundation

/// A directory of mode 0700 for the sockets of one process: only its owner can connect.
package final class IPCDirectory: Sendable {
    /// Bytes of a socket's path: `sun_path` without its terminating zero (unix(7)).
    package static let maximumPathBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    package let path: String

    /// Makes a new directory under the first of these where it can: `preferred`, `$XDG_RUNTIME_DIR`, `/tmp`. One whose paths
    /// would be too long for a socket is passed over.
    /// - Parameter room: bytes that a socket's name may have.
    package init(preferred: String? = nil, room: Int = 32) throws(MessagingError) {
        let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
        var refusal = MessagingError(.nameTooLong, "create a directory for sockets")
        for parent in [preferred, runtime, "/tmp"].compactMap({ $0 }) where parent.hasPrefix("/") {
            let template = "\(parent)/weft-XXXXXX"
            guard template.utf8.count + 1 + room <= Self.maximumPathBytes else { continue }
            var buffer = Array(template.utf8CString)
            // mkdtemp(3) makes it with mode 0700, whatever the umask.
            if mkdtemp(&buffer) != nil {
                path = String(decoding: buffer.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
                return
            }
            refusal = MessagingError(.init(rawValue: errno), "create a directory for sockets in \(parent)")
        }
        throw refusal
    }

    /// The address of a socket in the directory.
    /// - Throws: `.nameTooLong` when the path does not fit, `.invalid` when `name` is no plain file name.
    package func address(_ name: String) throws(MessagingError) -> String {
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/") else {
            throw MessagingError(.invalid, "name a socket", "\(name) is no file name")
        }
        let socket = "\(path)/\(name)"
        guard socket.utf8.count <= Self.maximumPathBytes else {
            throw MessagingError(.nameTooLong, "name a socket \(socket)")
        }
        return "ipc://\(socket)"
    }

    /// Removes the directory and the sockets in it. Also done when the last reference goes.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    deinit { remove() }
}
