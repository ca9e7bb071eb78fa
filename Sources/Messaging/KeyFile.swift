internal import Foundation

/// One key on disk: what a worker or a client shows, and whom it expects at the other end. Mode 0600.
package struct KeyFile: Codable, Sendable {
    package var name: String
    package var role: String
    /// Z85 of 32 bytes, all three.
    package var publicKey: String
    package var secret: String
    /// The coordinator's public key; `nil` in the coordinator's own file.
    package var server: String?

    private enum CodingKeys: String, CodingKey {
        case name, role
        case publicKey = "public"
        case secret, server
    }

    package init(name: String, role: String, keys: CurveKeyPair, server: CurvePublicKey? = nil) {
        self.name = name
        self.role = role
        publicKey = keys.publicKey.text
        secret = keys.secretText
        self.server = server?.text
    }

    /// - Throws: `.notPermitted` for a file that others can read, `.invalid` for one that is no key file, or the errno.
    package init(path: String) throws(MessagingError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw MessagingError(.init(rawValue: errno), "read the key file \(path)")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw MessagingError(
                .notPermitted, "use the key file \(path)", "others can read it; make its mode 0600")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw MessagingError(.notPermitted, "read the key file \(path)")
        }
        guard let decoded = try? JSONDecoder().decode(KeyFile.self, from: data), decoded.keys != nil else {
            throw MessagingError(.invalid, "read the key file \(path)", "it is not a key that `weft keys` has made")
        }
        self = decoded
    }

    package var keys: CurveKeyPair? { CurveKeyPair(secretText: secret) }

    /// How a dealer uses it; `nil` for a file without the coordinator's key.
    package var clientSecurity: ClientSecurity? {
        guard let keys, let server = server.flatMap({ CurvePublicKey($0) }) else { return nil }
        return ClientSecurity(keys: keys, server: server)
    }

    /// Creates the file; one that exists stays as it is.
    package func write(to path: String) throws(MessagingError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard var data = try? encoder.encode(self) else { throw MessagingError(.invalid, "write a key") }
        data.append(UInt8(ascii: "\n"))
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw MessagingError(.init(rawValue: errno), "create the key file \(path)") }
        defer { close(descriptor) }
        let written = data.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        guard written == data.count, fsync(descriptor) == 0 else {
            throw MessagingError(.init(rawValue: errno), "write the key file \(path)")
        }
    }
}
