import Foundation

/// `weft export` as a process of its own.
final class RunningExport {
    let process = Process()
    private let output: String
    private let errors: String

    /// The program that was built together with the tests.
    static var weft: String {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return folder.appendingPathComponent("weft").path
    }

    struct Ending {
        var code: Int32
        /// What was printed on standard output, taken for one JSON document.
        var json: [String: Any]
        var words: String

        var warnings: [String] { json["warnings"] as? [String] ?? [] }
        var attempts: Int { json["attempts"] as? Int ?? -1 }
        var segments: Int { json["segments"] as? Int ?? -1 }
        var failure: [String: Any] { json["failure"] as? [String: Any] ?? [:] }
        var isProved: Bool { (json["proof"] as? [String: Any])?["pass"] as? Bool ?? false }
    }

    /// - Parameters:
    ///   - shell: run before the program in the same process, such as `ulimit`.
    init(
        _ workshop: Workshop, from source: String = "clip.mp4", to target: String, _ options: [String] = [],
        shell: String = ":"
    ) throws {
        let stem = workshop.path + "/log-" + UUID().uuidString.prefix(8)
        (output, errors) = (stem + ".out", stem + ".err")
        for path in [output, errors] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        let location = source.hasPrefix("http") ? source : workshop.file(source)
        let words = [
            "export", location, workshop.file(target), "--json",
            "--state", workshop.state,
        ]
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", "\(shell) && exec \"$@\"", "bash", Self.weft] + words + options
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.run()
    }

    deinit { if process.isRunning { signal(SIGKILL) } }

    var pid: pid_t { process.processIdentifier }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Waits for the end; a process that does not end is the failure of the test, not its hang.
    func ending(within seconds: Double = 120) throws -> Ending {
        do {
            try awaited("the export to end", seconds: seconds) { process.isRunning ? nil : true }
        } catch {
            signal(SIGKILL)
            throw Trouble("\(error)\n\(words)")
        }
        let data = try Data(contentsOf: URL(fileURLWithPath: output))
        let json = data.isEmpty ? [:] : try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
        return Ending(code: process.terminationStatus, json: json, words: words)
    }

    var words: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

    /// Its slots that are alive.
    var slots: [pid_t] { ProcessTable.children(of: pid).filter { ProcessTable.words(of: $0).contains("slot") } }

    static func run(
        _ workshop: Workshop, from source: String = "clip.mp4", to target: String, _ options: [String] = [],
        shell: String = ":"
    ) throws -> Ending {
        try RunningExport(workshop, from: source, to: target, options, shell: shell).ending()
    }
}

/// What /proc tells about processes (proc(5)).
enum ProcessTable {
    static func children(of parent: pid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { status(of: $0)?.parent == parent && isAlive($0) }.sorted()
    }

    static func words(of pid: pid_t) -> [String] {
        guard let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") else { return [] }
        return line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A process that has ended but was not waited for counts as gone.
    static func isAlive(_ pid: pid_t) -> Bool {
        guard let status = status(of: pid) else { return false }
        return status.state != "Z" && status.state != "X"
    }

    private static func status(of pid: pid_t) -> (state: String, parent: pid_t)? {
        guard let text = text("/proc/\(pid)/stat"), let bracket = text.lastIndex(of: ")") else { return nil }
        let words = text[bracket...].split(separator: " ")
        guard words.count > 2, let parent = pid_t(words[2]) else { return nil }
        return (String(words[1]), parent)
    }

    struct Usage {
        var descriptors: Int
        var threads: Int
        /// Peak resident kilobytes.
        var peak: Int
    }

    static func usage(of pid: pid_t) -> Usage? {
        guard let text = text("/proc/\(pid)/status"),
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
        else { return nil }
        func number(_ key: String) -> Int? {
            text.split(separator: "\n").first { $0.hasPrefix(key) }?.split(whereSeparator: { !$0.isNumber }).first
                .flatMap { Int($0) }
        }
        guard let threads = number("Threads:"), let peak = number("VmHWM:") else { return nil }
        return Usage(descriptors: descriptors, threads: threads, peak: peak)
    }

    private static func text(_ path: String) -> String? {
        // Files of /proc have no size, which some readers take for empty.
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = fread(&bytes, 1, bytes.count, file)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
