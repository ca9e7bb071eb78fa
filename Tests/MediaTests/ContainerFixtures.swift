import Foundation
import Media
import MediaTime

/// Real files, made clips and scratch folders for the container tests.
enum ContainerFixtures {
    struct ManifestRow: CustomStringConvertible, Sendable {
        var file: String
        var videoPackets: Int
        var keyframes: Int
        var firstVideoPTS: Double

        var description: String { file }
    }

    static let mediaFolder: URL? = {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let folder =
            ProcessInfo.processInfo.environment["WEFT_MEDIA"].map { URL(fileURLWithPath: $0) }
            ?? root.deletingLastPathComponent().appendingPathComponent("shared/media")
        let manifest = folder.appendingPathComponent("MANIFEST.tsv").path
        guard FileManager.default.fileExists(atPath: manifest) else {
            print("skipped: no test media at \(folder.path)")
            return nil
        }
        return folder
    }()

    static func path(_ name: String) -> String? {
        guard let path = mediaFolder?.appendingPathComponent(name).path, FileManager.default.fileExists(atPath: path)
        else {
            print("skipped: \(name) is not here")
            return nil
        }
        return path
    }

    static let manifest: [ManifestRow] = {
        guard let url = mediaFolder?.appendingPathComponent("MANIFEST.tsv"),
            let text = try? String(contentsOf: url, encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard columns.count > 7, let packets = Int(columns[4]), let keys = Int(columns[6]),
                let first = Double(columns[7])
            else { return nil }
            return ManifestRow(
                file: String(columns[0]), videoPackets: packets, keyframes: keys, firstVideoPTS: first)
        }
    }()

    /// A folder that is gone after `body`.
    static func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("weft-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.path)
    }

    static func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("weft-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.path)
    }

    /// Runs the `ffmpeg` program; `false` (and a line that says "skipped") where there is none.
    static func ffmpeg(_ arguments: [String]) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-y"] + arguments
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus == 127 { print("skipped: no ffmpeg program") }
        return process.terminationStatus == 0
    }

    static func samples(of demuxer: Demuxer, track: Int? = nil) throws -> [Sample] {
        var samples: [Sample] = []
        while let sample = try demuxer.readSample() {
            if track == nil || sample.track == track { samples.append(sample) }
        }
        return samples
    }

    static func bytes(of sample: Sample) -> [UInt8] { sample.withUnsafeBytes { Array($0) } }

    static func reason(_ body: () throws -> Void) -> MediaError.Reason? {
        do {
            try body()
            return nil
        } catch {
            return (error as? MediaError)?.reason
        }
    }
}
