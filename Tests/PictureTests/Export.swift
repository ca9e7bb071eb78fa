import Foundation
import Support

/// One run of the built program.
struct Export {
    let exitCode: Int32
    let report: [String: Any]
    let complaint: String
    let output: String

    /// The program lies beside the test bundle; where the bundle is a plain file, its address is already the folder's.
    private static let program: String = {
        let bundle = Bundle(for: Marker.self).bundleURL
        let folder = bundle.pathExtension == "xctest" ? bundle.deletingLastPathComponent() : bundle
        return folder.appending(path: "weft").path
    }()

    private final class Marker {}

    init(_ source: String, into scratch: ScratchFolder, as name: String, _ options: [String]) throws {
        output = scratch.file(name)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = ["export", source, output, "--json", "--quiet", "--state", scratch.file("state")] + options
        let answer = scratch.file("answer-\(name).json")
        let words = scratch.file("words-\(name).txt")
        _ = FileManager.default.createFile(atPath: answer, contents: nil)
        _ = FileManager.default.createFile(atPath: words, contents: nil)
        process.standardOutput = FileHandle(forWritingAtPath: answer)
        process.standardError = FileHandle(forWritingAtPath: words)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        exitCode = process.terminationStatus
        complaint = (try? String(contentsOfFile: words, encoding: .utf8)) ?? ""
        let data = FileManager.default.contents(atPath: answer) ?? Data()
        report = (try? JSONSerialization.jsonObject(with: data) as? [String: Any]) ?? [:]
    }

    /// What `weft verify --full` finds between two files, by kind.
    static func findings(_ source: String, _ output: String) throws -> [String] {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["verify", source, output, "--full", "--json"]
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let findings = document?["findings"] as? [[String: Any]]
        let kinds = findings?.compactMap { $0["kind"] as? String } ?? ["no answer"]
        return process.terminationStatus == (kinds.isEmpty ? 0 : 1)
            ? kinds : kinds + ["exit \(process.terminationStatus)"]
    }

    var isProved: Bool { exitCode == 0 && (report["proof"] as? [String: Any])?["pass"] as? Bool == true }
    var warnings: [String] { report["warnings"] as? [String] ?? [] }
    var losses: [String] { report["losses"] as? [String] ?? [] }
    var segments: Int { report["segments"] as? Int ?? 0 }
}

/// What ffprobe says of the first picture track and its first picture.
struct Probe {
    let stream: [String: Any]
    let frame: [String: Any]

    init?(_ path: String) throws {
        guard
            let shown = try Self.run([
                "-v", "error", "-select_streams", "v:0", "-read_intervals", "%+#1", "-show_streams", "-show_frames",
                "-of", "json", path,
            ])
        else { return nil }
        let document = try JSONSerialization.jsonObject(with: shown) as? [String: Any]
        stream = (document?["streams"] as? [[String: Any]])?.first ?? [:]
        frame = (document?["frames"] as? [[String: Any]])?.first ?? [:]
    }

    fileprivate static func run(_ arguments: [String]) throws -> Data? {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffprobe"] + arguments
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus != 127 else {
            print("skipped: there is no ffprobe program to judge with")
            return nil
        }
        return data
    }

    /// Size, format and colour, as one line.
    var picture: String {
        ["width", "height", "pix_fmt", "color_range", "color_space", "color_transfer", "color_primaries"]
            .map { stream[$0].map { "\($0)" } ?? "-" }.joined(separator: " ")
    }

    func text(_ key: String) -> String { stream[key].map { "\($0)" } ?? "" }

    /// Kinds of side data of the track.
    var trackSideData: [String: [String: Any]] { Self.sideData(stream) }
    /// Kinds of side data of the first picture.
    var frameSideData: [String: [String: Any]] { Self.sideData(frame) }

    private static func sideData(_ object: [String: Any]) -> [String: [String: Any]] {
        let list = object["side_data_list"] as? [[String: Any]] ?? []
        return Dictionary(list.map { ($0["side_data_type"] as? String ?? "", $0) }) { first, _ in first }
    }
}

/// What ffprobe says of one kind of side data, picture by picture in presentation order.
func sideData(_ kind: String, of path: String) throws -> [String]? {
    let shown = try Probe.run([
        "-v", "error", "-select_streams", "v:0", "-show_frames", "-show_entries", "frame_side_data", "-of", "compact",
        path,
    ])
    return shown.map { data in
        String(decoding: data, as: UTF8.self).split(separator: "\n").filter { $0.contains(kind) }.map(String.init)
    }
}

/// Hashes of the decoded pictures of a file after a filter, by the `ffmpeg` program.
func pictureHashes(_ path: String, filter: String? = nil, scratch: ScratchFolder) throws -> [String]? {
    let list = scratch.file("hashes-\(UUID().uuidString).txt")
    let filters = filter.map { ["-vf", $0] } ?? []
    guard
        try FFmpegProgram.run(
            // Unless told, ffmpeg cuts off less on the left than the stream says, for aligned addresses.
            ["-flags", "unaligned", "-i", path, "-map", "0:v:0"] + filters + [
                "-fps_mode", "passthrough", "-f", "framemd5", list,
            ])
    else { return nil }
    return try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
        .compactMap { $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } }
}
