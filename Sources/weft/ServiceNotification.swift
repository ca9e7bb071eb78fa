internal import Foundation

/// Tells a service manager how far a service is (sd_notify(3)): one datagram to the socket that `NOTIFY_SOCKET` names.
enum ServiceNotification {
    static func send(_ state: String, environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], let first = path.first, first == "/" || first == "@" else {
            return
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        // An abstract name begins with a zero byte (unix(7)).
        if first == "@" { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        #if canImport(Darwin)
            let type = SOCK_DGRAM
        #else
            let type = Int32(SOCK_DGRAM.rawValue)
        #endif
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bytes = Array(state.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                _ = sendto(descriptor, bytes, bytes.count, 0, generic, length)
            }
        }
    }
}
