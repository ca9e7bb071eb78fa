internal import Foundation

/// Runs programs and waits for them.
enum Program {
    struct Outcome {
        var status: Int32
        var output: Data
        var errors: String
    }

    /// The `weft` that was built with these tests: it lies beside the test bundle.
    static let weft: String = {
        for argument in CommandLine.arguments + [Bundle.main.bundlePath] {
            var folder = URL(fileURLWithPath: argument)
            for _ in 0..<4 {
                folder.deleteLastPathComponent()
                let candidate = folder.appendingPathComponent("weft").path
                if FileManager.default.isExecutableFile(atPath: candidate), folder.path.contains(".build") {
                    return candidate
                }
            }
        }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return package.appendingPathComponent(".build/debug/weft").path
    }()

    static func run(_ program: String, _ arguments: [String]) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program.contains("/") ? program : "/usr/bin/env")
        process.arguments = program.contains("/") ? arguments : [program] + arguments
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("weft-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, not pipes: a pipe that nobody reads would stop the program.
        let files = ["out", "err"].map { folder.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: try Data(contentsOf: files[0]),
            errors: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self))
    }
}

/// A folder that is gone when the test is.
final class Workplace {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "weft-export-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    /// Exports with the cheapest settings and returns the report.
    func export(_ source: String, _ name: String, _ options: [String] = []) throws -> (report: Report?, errors: String)
    {
        let outcome = try Program.run(
            Program.weft,
            ["export", source, file(name), "--json", "--quiet", "--overwrite", "--state", file("state")] + options)
        guard outcome.status == 0 else { return (nil, "exit \(outcome.status): \(outcome.errors)") }
        return (try JSONDecoder().decode(Report.self, from: outcome.output), outcome.errors)
    }
}

/// What the tests look at in an export's report.
struct Report: Decodable {
    struct Proof: Decodable {
        struct Track: Decodable {
            var track: Int
            var kind: String
            var source_samples: Int
            var output_samples: Int
            var pass: Bool
        }
        var pass: Bool
        var tracks: [Track]
    }
    /// In one line: "subtitle 2: ass → mov_text, converted".
    struct Carried: Decodable, CustomStringConvertible {
        var kind: String
        var how: String
        var track: Int?
        var from: String
        var to: String
        var count: Int?

        var description: String {
            let place = track.map { " \($0)" } ?? count.map { " ×\($0)" } ?? ""
            return "\(kind)\(place): \(from == to ? from : "\(from) → \(to)"), \(how)"
        }
    }
    var proof: Proof
    var warnings: [String]
    var losses: [String]
    var carried: [Carried]
}
