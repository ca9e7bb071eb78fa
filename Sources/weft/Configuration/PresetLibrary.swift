internal import Foundation

/// Where presets are looked for, nearest first: the user's own, `WEFT_PRESETS`, what is installed beside the program, and
/// the source tree the program was built in.
struct PresetLibrary: Sendable {
    var directories: [String]

    init(directories: [String]) {
        self.directories = directories
    }

    init(environment: [String: String], executable: String? = Bundle.main.executablePath) {
        directories = [Self.userDirectory(environment) + "/presets"]
        directories += (environment["WEFT_PRESETS"] ?? "").split(separator: ":").map(String.init)
        guard let executable else { return }
        var folder = URL(fileURLWithPath: executable).resolvingSymlinksInPath().deletingLastPathComponent()
        directories.append(folder.deletingLastPathComponent().appending(path: "share/weft/presets").path)
        // .build/x86_64-unknown-linux-gnu/release/weft lies four folders below Config.
        for _ in 0..<5 where folder.path != "/" {
            folder.deleteLastPathComponent()
            let candidate = folder.appending(path: "Config/presets")
            if FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
                directories.append(candidate.path)
            }
        }
    }

    /// `$XDG_CONFIG_HOME/weft`.
    static func userDirectory(_ environment: [String: String]) -> String {
        let stated = environment["XDG_CONFIG_HOME"] ?? ""
        let base = stated.isEmpty ? (environment["HOME"] ?? "/") + "/.config" : stated
        return base + "/weft"
    }

    /// Names of every preset there is, in order.
    var names: [String] {
        let files = directories.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] }
        return Set(files.filter { $0.hasSuffix(".json5") }.map { String($0.dropLast(6)) }).sorted()
    }

    /// A preset by its name, or by its path when it has a `/` or ends in `.json5`.
    func preset(_ name: String) throws -> SettingsFile {
        if name.contains("/") || name.hasSuffix(".json5") {
            return try SettingsFile(path: name, kind: .preset)
        }
        for directory in directories {
            let path = "\(directory)/\(name).json5"
            if FileManager.default.fileExists(atPath: path) {
                return try SettingsFile(path: path, kind: .preset)
            }
        }
        let known = names
        let list = known.isEmpty ? "No presets are installed." : "There are \(known.joined(separator: ", "))."
        throw ConfigurationError(
            place: "preset '\(name)'", message: "not found.\(Suggestion.sentence(for: name, among: known)) \(list)")
    }
}
