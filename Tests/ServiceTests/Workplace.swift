import Foundation
import Testing

/// A directory for one test, with the coordinator and the workers that it starts; all gone when the test is over.
final class Workplace {
    let path: String
    private var processes: [Process] = []
    private(set) var address = ""
    /// Words before a command, such as those that enter a network namespace.
    var clientPrefix: [String] = []

    init() throws {
        var template = Array("/tmp/weft-service-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for process in processes where process.isRunning { kill(process.processIdentifier, SIGKILL) }
        for process in processes { process.waitUntilExit() }
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { path + "/" + name }

    // MARK: Program and media

    /// The `weft` that was built beside these tests.
    static let program: String = {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<5 {
            let candidate = folder.appending(path: "weft").path
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
            folder.deleteLastPathComponent()
        }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return package.appending(path: ".build/debug/weft").path
    }()

    /// A real file, or `nil` (and a word about it) where the media are not there.
    static func media(_ name: String) -> String? {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder =
            ProcessInfo.processInfo.environment["WEFT_MEDIA"]
            ?? package.deletingLastPathComponent().appending(path: "shared/media").path
        let path = folder + "/" + name
        guard FileManager.default.fileExists(atPath: path) else {
            print("skipped: \(path) is not there")
            return nil
        }
        return path
    }

    // MARK: Processes

    struct Outcome {
        var code: Int32
        var output: String
        var errors: String

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(output.utf8))) as? [String: Any] ?? [:]
        }
    }

    private var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("WEFT_") }
        environment["XDG_STATE_HOME"] = path + "/xdg"
        environment["XDG_CONFIG_HOME"] = path + "/config"
        if !address.isEmpty { environment["WEFT_COORDINATOR"] = address }
        return environment
    }

    private func process(
        _ words: [String], prefix: [String], log: String, program: String = Workplace.program
    ) throws -> Process {
        let process = Process()
        let line = prefix + [program] + words
        process.executableURL = URL(fileURLWithPath: line[0])
        process.arguments = Array(line.dropFirst())
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        for (name, isOutput) in [(log + ".out", true), (log + ".err", false)] {
            _ = FileManager.default.createFile(atPath: file(name), contents: nil)
            let handle = try #require(FileHandle(forWritingAtPath: file(name)))
            if isOutput { process.standardOutput = handle } else { process.standardError = handle }
        }
        return process
    }

    /// Runs a command to its end.
    @discardableResult
    func weft(_ words: String..., prefix: [String]? = nil) throws -> Outcome { try weft(words, prefix: prefix) }

    /// - Parameter meanwhile: done once the command has begun.
    func weft(_ words: [String], prefix: [String]? = nil, meanwhile: () throws -> Void = {}) throws -> Outcome {
        let log = "run-\(UInt32.random(in: 0...UInt32.max))"
        let process = try process(words, prefix: prefix ?? clientPrefix, log: log)
        return try outcome(of: process, log: log, seconds: 90, meanwhile: meanwhile)
    }

    /// Runs it to its end, and kills it if that does not come in time.
    private func outcome(
        of process: Process, log: String, seconds: Double, meanwhile: () throws -> Void = {}
    ) throws -> Outcome {
        processes.append(process)
        try process.run()
        let pid = process.processIdentifier
        let watchdog = DispatchWorkItem { kill(pid, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: watchdog)
        try meanwhile()
        process.waitUntilExit()
        watchdog.cancel()
        return Outcome(
            code: process.terminationStatus, output: try String(contentsOfFile: file(log + ".out"), encoding: .utf8),
            errors: try String(contentsOfFile: file(log + ".err"), encoding: .utf8))
    }

    /// Runs another program that was built beside these tests.
    func beside(_ name: String, _ words: [String]) throws -> Outcome {
        let program = URL(fileURLWithPath: Self.program).deletingLastPathComponent().appending(path: name).path
        let process = try process(words, prefix: [], log: name, program: program)
        return try outcome(of: process, log: name, seconds: 600)
    }

    /// Kills a command once the condition holds.
    func interrupt(_ words: [String], when condition: () throws -> Bool) throws {
        let process = try process(words, prefix: [], log: "interrupted")
        processes.append(process)
        try process.run()
        try awaits("the moment to interrupt") { try condition() }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Finished segments in the spools of exports on this machine.
    var spooledSegments: Int {
        let names = FileManager.default.enumerator(atPath: file("xdg"))
        var count = 0
        while let name = names?.nextObject() as? String {
            let last = URL(fileURLWithPath: name).lastPathComponent
            if last.hasPrefix("segment-"), !last.hasSuffix(".part") { count += 1 }
        }
        return count
    }

    /// Starts a coordinator and waits until it listens.
    @discardableResult
    func startCoordinator(
        listen: String = "tcp://127.0.0.1:0", _ words: String..., prefix: [String] = []
    ) throws -> Process {
        let log = "coordinator-\(processes.count)"
        let line = ["coordinator", "--listen", listen, "--state", file("state"), "--json"] + words
        let process = try process(line, prefix: prefix, log: log)
        processes.append(process)
        try process.run()
        try awaits("the coordinator listens") {
            let text = (try? String(contentsOfFile: file(log + ".out"), encoding: .utf8)) ?? ""
            guard
                let json = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any],
                let addresses = json["listening"] as? [String], let first = addresses.first
            else {
                try #require(
                    process.isRunning, "\((try? String(contentsOfFile: file(log + ".err"), encoding: .utf8)) ?? "")")
                return false
            }
            address = first
            return true
        }
        return process
    }

    @discardableResult
    func startWorker(
        _ name: String, slots: Int = 1, key: String? = nil, coordinator: String? = nil, prefix: [String] = []
    ) throws -> Process {
        var line = ["worker", "--name", name, "--slots", "\(slots)"] + (key.map { ["--key", $0] } ?? [])
        line += coordinator.map { ["--coordinator", $0] } ?? []
        let process = try process(line, prefix: prefix, log: "worker-\(name)-\(processes.count)")
        processes.append(process)
        try process.run()
        return process
    }

    /// A slot that returns altered samples (`Benchmarks/rogue-slot`), as the node of that name.
    /// - Returns: `false`, with a line that says "skipped", where no Python here has what it needs.
    func startRogue(_ name: String, _ mode: String, key: String) throws -> Bool {
        // Debian's python3-zmq and python3-xxhash belong to Debian's Python, which need not be the first one.
        let pythons = ["/usr/bin/env python3", "/usr/bin/python3"].map { $0.split(separator: " ").map(String.init) }
        let needs = "import zmq, xxhash; assert zmq.has('curve')"
        guard let python = try pythons.first(where: { try run($0 + ["-c", needs], log: "python") == 0 }) else {
            print("skipped: no Python here has pyzmq with CURVE, and xxhash")
            return false
        }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Benchmarks/rogue-slot").path
        let process = try process(
            [script, Self.program, address, key, name, mode], prefix: Array(python.dropLast()), log: "rogue-\(name)",
            program: python[python.count - 1])
        processes.append(process)
        try process.run()
        return true
    }

    private func run(_ line: [String], log: String) throws -> Int32 {
        let process = try process(Array(line.dropFirst()), prefix: [], log: log, program: line[0])
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    func log(_ prefix: String) -> String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasPrefix(prefix) }.sorted()
            .compactMap { try? String(contentsOfFile: file($0), encoding: .utf8) }.joined()
    }

    // MARK: Waiting

    /// Looks again and again until the condition holds.
    func awaits(_ what: String, seconds: Double = 60, _ condition: () throws -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while try !condition() {
            try #require(Date() < deadline, "\(what) did not happen within \(seconds) s")
            usleep(20_000)
        }
    }

    // MARK: Jobs

    static let quick = ["-o", "preset=ultrafast", "--segment-duration", "2", "--end", "60"]
    /// Long enough for something to happen in the middle.
    static let slow = ["-o", "preset=slow", "--segment-duration", "2", "--end", "100"]

    func submit(_ source: String, _ target: String, _ options: [String], _ more: String...) throws -> String {
        let outcome = try weft(["submit", source, file(target)] + options + ["--json"] + more)
        try #require(outcome.code == 0, "\(outcome.errors)")
        return try #require(outcome.json["job"] as? String)
    }

    func job(_ id: String, key: String? = nil) throws -> [String: Any] {
        let outcome = try weft(["job", id, "--json"] + (key.map { ["--key", $0] } ?? []))
        try #require(outcome.code == 0, "\(outcome.errors)")
        return outcome.json
    }

    /// - Returns: the report of a job that is over.
    @discardableResult
    func awaitEnd(_ id: String) throws -> [String: Any] {
        var report: [String: Any] = [:]
        try awaits("job \(id) ends", seconds: 90) {
            report = try job(id)
            return ["done", "failed", "cancelled"].contains(report["state"] as? String ?? "")
        }
        return report
    }

    func awaitSegments(_ id: String, atLeast count: Int) throws {
        try awaits("\(count) segments of \(id) are done") { try job(id)["segments_done"] as? Int ?? 0 >= count }
    }

    func awaitWorkers(_ count: Int, key: String? = nil) throws {
        try awaits("\(count) slots are there") {
            let rows = try weft(["workers", "--json"] + (key.map { ["--key", $0] } ?? [])).json["workers"]
            let states = (rows as? [[String: Any]] ?? []).compactMap { $0["state"] as? String }
            return states.filter { $0 != "lost" && $0 != "left" }.count >= count
        }
    }

    func segments(_ id: String) throws -> [[String: Any]] {
        try weft("segments", id, "--json").json["segments"] as? [[String: Any]] ?? []
    }

    func events(_ id: String) throws -> [String] {
        let rows = try weft("events", id, "--json").json["events"] as? [[String: Any]] ?? []
        return rows.compactMap { $0["kind"] as? String }
    }

    /// The same export on one machine, without a coordinator.
    func reference(_ source: String, _ options: [String]) throws -> Data {
        let target = file("reference.mp4")
        let outcome = try weft(["export", source, target, "--quiet", "--overwrite"] + options, prefix: [])
        try #require(outcome.code == 0, "\(outcome.errors)")
        return try Data(contentsOf: URL(fileURLWithPath: target))
    }

    func bytes(_ name: String) -> Data? { FileManager.default.contents(atPath: file(name)) }
}
