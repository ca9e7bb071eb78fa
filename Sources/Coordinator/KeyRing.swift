package import ClusterProtocol
internal import Foundation
package import Messaging
internal import Synchronization

/// The coordinator's own key and the keys that may connect, under `STATE/keys`.
///
/// The list is read again when its file changes, so that `weft keys` works beside a running coordinator. Thread-safe.
package final class KeyRing: Sendable {
    /// One key that may connect.
    package struct Entry: Codable, Sendable, Hashable {
        package var name: String
        package var role: String
        package var publicKey: String
        /// Seconds since 1970.
        package var created: Double

        private enum CodingKeys: String, CodingKey {
            case name, role
            case publicKey = "public"
            case created
        }
    }

    package static let roles = ["worker", "client", "observer"]

    package let directory: String
    private let cache = Mutex(Cache())

    private struct Cache {
        var stamp: Stamp?
        var roles: [String: String] = [:]
    }

    private struct Stamp: Equatable {
        var size: Int64
        var modified: Int64
        var inode: UInt64
    }

    /// - Parameter state: the coordinator's state directory.
    package init(state: String) { directory = state + "/keys" }

    private var ownPath: String { directory + "/coordinator.key" }
    private var listPath: String { directory + "/allowed.json" }

    // MARK: Reading

    /// The coordinator's key; `nil` where none was made.
    package func coordinatorKeys() throws(Failure) -> CurveKeyPair? {
        guard FileManager.default.fileExists(atPath: ownPath) else { return nil }
        do {
            return try KeyFile(path: ownPath).keys
        } catch {
            throw Self.failure(error)
        }
    }

    package func entries() throws(Failure) -> [Entry] {
        guard let data = FileManager.default.contents(atPath: listPath) else { return [] }
        do {
            return try JSONDecoder().decode([Entry].self, from: data)
        } catch {
            throw Failure(
                .storage, "The list of keys \(listPath) cannot be read.", advice: "Restore it, or make the keys anew.",
                fault: .environment, exitCode: .badConfiguration)
        }
    }

    /// What a key may do; `nil` for one that is not allowed, or no longer.
    package func role(of key: CurvePublicKey) -> PeerRole? {
        let stamp = stamp()
        let word = cache.withLock { cache in
            if cache.stamp != stamp {
                cache.roles = [:]
                for entry in (try? entries()) ?? [] { cache.roles[entry.publicKey] = entry.role }
                cache.stamp = stamp
            }
            return cache.roles[key.text]
        }
        return word.map(PeerRole.init(rawValue:))
    }

    private func stamp() -> Stamp? {
        var status = stat()
        guard stat(listPath, &status) == 0 else { return nil }
        let modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        return Stamp(size: Int64(status.st_size), modified: modified, inode: UInt64(status.st_ino))
    }

    // MARK: Changing

    /// Makes a key, allows it, and writes it to `path` with the coordinator's public key beside it.
    package func makeKey(name: String, role: String, path: String) throws(Failure) -> Entry {
        try prepare()
        do {
            if !FileManager.default.fileExists(atPath: ownPath) {
                try KeyFile(name: "coordinator", role: "coordinator", keys: .generate()).write(to: ownPath)
            }
            guard let server = try KeyFile(path: ownPath).keys?.publicKey else {
                throw Failure(
                    .storage, "\(ownPath) holds no key.", advice: "Remove it, and make all keys anew.",
                    fault: .environment, exitCode: .badConfiguration)
            }
            let keys = try CurveKeyPair.generate()
            let file = KeyFile(name: name, role: role, keys: keys, server: server)
            try refuseKnown(name: name, key: keys.publicKey.text)
            try file.write(to: path)
            return try allow(name: name, role: role, key: keys.publicKey)
        } catch let error as MessagingError {
            throw Self.failure(error)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(unexpected: error)
        }
    }

    package func allow(name: String, role: String, key: CurvePublicKey) throws(Failure) -> Entry {
        try prepare()
        try refuseKnown(name: name, key: key.text)
        let entry = Entry(name: name, role: role, publicKey: key.text, created: Date().timeIntervalSince1970)
        try save(entries() + [entry])
        return entry
    }

    private func refuseKnown(name: String, key: String) throws(Failure) {
        guard try entries().contains(where: { $0.name == name || $0.publicKey == key }) else { return }
        throw Failure(
            .storage, "There is a key named \(name) already.", advice: "Choose another --name, or revoke that one.",
            fault: .settings, exitCode: .cannotCreate)
    }

    /// - Parameter word: a name or a public key.
    package func revoke(_ word: String) throws(Failure) -> Entry {
        let known = try entries()
        guard let entry = known.first(where: { $0.name == word || $0.publicKey == word }) else {
            throw Failure(
                .storage, "There is no key \(word).", advice: "`weft keys list` shows them.", fault: .settings,
                exitCode: .usage)
        }
        try save(known.filter { $0 != entry })
        return entry
    }

    private func prepare() throws(Failure) {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(unexpected: error)
        }
    }

    private func save(_ entries: [Entry]) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            let data = try encoder.encode(entries)
            try data.write(to: URL(fileURLWithPath: listPath), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: listPath)
        } catch {
            throw Failure(unexpected: error)
        }
    }

    private static func failure(_ error: MessagingError) -> Failure {
        Failure(
            .storage, "\(error)", advice: "Look at the files under the state directory's keys folder.",
            fault: .environment, code: error.code.rawValue, exitCode: .cannotCreate)
    }
}

extension Failure {
    /// What the file system says.
    fileprivate init(unexpected error: any Error) {
        self.init(
            .storage, error.localizedDescription, advice: "Check the state directory.", retry: .retry,
            fault: .environment, exitCode: .ioError)
    }
}
