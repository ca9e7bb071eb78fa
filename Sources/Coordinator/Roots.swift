package import ClusterProtocol
internal import Foundation
internal import SourceAccess

/// Where jobs may read and write: directories, and beginnings of URLs for sources. None named: anywhere.
package struct Roots: Sendable {
    private let directories: [String]
    private let prefixes: [String]

    package var isEmpty: Bool { directories.isEmpty && prefixes.isEmpty }

    /// - Throws: for a directory that is not there.
    package init(_ texts: [String]) throws(Failure) {
        var directories: [String] = []
        var prefixes: [String] = []
        for text in texts {
            if text.contains("://") {
                prefixes.append(text.hasSuffix("/") ? text : text + "/")
                continue
            }
            guard let canonical = Self.canonical(text) else {
                throw Failure(
                    .storage, "The root \(text) is not there: \(String(cString: strerror(errno))).",
                    advice: "Create the directory, or correct --root.", fault: .settings, code: errno,
                    exitCode: .badConfiguration)
            }
            directories.append(canonical)
        }
        self.directories = directories
        self.prefixes = prefixes
    }

    /// realpath(3): every symbolic link is followed before anything is compared.
    private static func canonical(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private func contains(_ path: String) -> Bool {
        directories.contains { $0 == "/" || path == $0 || path.hasPrefix($0 + "/") }
    }

    /// Blocks on the disk.
    /// - Returns: the path to use from now on, without symbolic links.
    func source(_ location: String) throws(Failure) -> String {
        if location.contains("://") {
            guard isEmpty || (!location.contains("/../") && prefixes.contains { location.hasPrefix($0) }) else {
                throw refusal(location)
            }
            return location
        }
        guard location.hasPrefix("/") else { throw relative(location) }
        guard let path = Self.canonical(location) else {
            let code = errno
            // Whether a file outside is there is nobody's business.
            guard isEmpty || contains(URL(fileURLWithPath: location).standardizedFileURL.path) else {
                throw refusal(location)
            }
            throw Failure.sourceUnreadable(location, errno: code)
        }
        guard isEmpty || contains(path) else { throw refusal(location) }
        return path
    }

    /// Blocks on the disk.
    func target(_ location: String) throws(Failure) -> String {
        guard location.hasPrefix("/"), !location.contains("://") else { throw relative(location) }
        let url = URL(fileURLWithPath: location)
        let name = url.lastPathComponent
        guard !["", "/", ".", ".."].contains(name) else { throw relative(location) }
        guard let folder = Self.canonical(url.deletingLastPathComponent().path) else {
            let code = errno
            guard isEmpty || contains(url.standardizedFileURL.path) else { throw refusal(location) }
            throw Failure(
                .storage, "The folder of \(location) cannot be used: \(String(cString: strerror(code))).",
                advice: "Create it on the coordinator's machine.", fault: .settings, code: code,
                exitCode: .cannotCreate)
        }
        let path = folder == "/" ? "/" + name : folder + "/" + name
        guard isEmpty || contains(path) else { throw refusal(location) }
        return path
    }

    private func relative(_ location: String) -> Failure {
        Failure(
            .storage, "\(location) is not the absolute path of a file.", advice: "Name files by their whole path.",
            fault: .settings, exitCode: .usage)
    }

    private func refusal(_ location: String) -> Failure {
        Failure(
            .storage, "\(location) lies outside the directories that this coordinator may use.",
            advice: "Use a file under one of its roots, or start it with another --root.", fault: .settings,
            exitCode: .notPermitted)
    }
}
