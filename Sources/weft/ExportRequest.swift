internal import ClusterProtocol
internal import Foundation

/// What one `weft export` is asked to do, checked as far as that goes without opening anything.
struct ExportRequest: Hashable, Sendable {
    /// An absolute path, or an http(s) URL as given.
    var source: String
    /// An absolute path.
    var destination: String
    var settings = ExportSettings()
    /// Slots on this machine; `nil` for as many as its cores and memory carry.
    var workers: Int?
    /// Whether an existing destination may be replaced.
    var overwrite = false
    /// Whether to go on with what an interrupted export of the same source, destination and settings has finished.
    var resume = false
    /// Where the report goes, besides the summary.
    var reportPath: String?
    var json = false
    var quiet = false
    /// An absolute path: spool and job store.
    var stateDirectory: String
    /// `nil`: this process coordinates.
    var coordinator: String?
    var keyFile: String?
    /// Names of options that somebody stated; what is not among them is a default that may be adapted to the source.
    var stated: Set<String> = []
    /// Settings that were overruled, for the user to know.
    var notes: [String] = []
}

extension ExportRequest {
    /// - Throws: `UsageError` for the command line, `ConfigurationError` for variables and files.
    init(_ invocation: Invocation, presets: PresetLibrary? = nil) throws {
        let environment = invocation.environment
        let library = presets ?? PresetLibrary(environment: environment)
        let stack = try SettingStack(ConfigurationLayers.read(for: invocation, presets: library))
        let reader = SettingReader(layer: stack.merged, command: invocation.command.name)
        try reader.checkConflicts()

        source = Self.location(invocation.operands[0])
        destination = Self.location(invocation.operands[1])
        settings = try reader.exportSettings(destination: destination)
        workers = try reader.count("workers", in: 1...1024)
        overwrite = reader.isOn("overwrite")
        resume = reader.isOn("resume")
        reportPath = reader.text("report").map(Self.location)
        json = reader.isOn("json")
        quiet = reader.isOn("quiet")
        stateDirectory = Self.location(reader.text("state") ?? Self.defaultStateDirectory(environment))
        coordinator = reader.text("coordinator")
        keyFile = reader.text("key").map(Self.location)
        stated = Set(stack.merged.values.keys)
        notes = stack.notes
        try checkDestination(reader)
    }

    /// `$XDG_STATE_HOME/weft`.
    static func defaultStateDirectory(_ environment: [String: String]) -> String {
        let stated = environment["XDG_STATE_HOME"] ?? ""
        let base = stated.isEmpty ? (environment["HOME"] ?? "/var/tmp") + "/.local/state" : stated
        return base + "/weft"
    }

    /// Paths become absolute, so that slots in other directories and on other machines mean the same file.
    static func location(_ text: String) -> String {
        if text.hasPrefix("http://") || text.hasPrefix("https://") { return text }
        return URL(fileURLWithPath: text).standardizedFileURL.path
    }

    private func checkDestination(_ reader: SettingReader) throws {
        if destination.contains("://") {
            throw UsageError(reader.command, "the destination is a file on this machine, not a URL.")
        }
        var from = stat(), to = stat()
        let isSameFile =
            stat(source, &from) == 0 && stat(destination, &to) == 0 && from.st_dev == to.st_dev
            && from.st_ino == to.st_ino
        if source == destination || isSameFile {
            throw UsageError(reader.command, "the destination is the source itself.")
        }
        if reportPath == destination || reportPath == source {
            throw UsageError(reader.command, "--report names the source or the destination.")
        }
    }
}
