import Foundation
import Testing

/// Short clips for tests that do not need a real film, and what ffmpeg says of the results.
extension Workplace {
    /// Runs a program of FFmpeg's.
    /// - Returns: `nil`, with a line that says "skipped", where there is none.
    func tool(_ words: [String]) throws -> Outcome? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardInput = FileHandle.nullDevice
        let names = ["tool.out", "tool.err"]
        for name in names { _ = FileManager.default.createFile(atPath: file(name), contents: nil) }
        process.standardOutput = FileHandle(forWritingAtPath: file(names[0]))
        process.standardError = FileHandle(forWritingAtPath: file(names[1]))
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus == 127 {
            print("skipped: there is no \(words[0]) here")
            return nil
        }
        return Outcome(
            code: process.terminationStatus, output: try String(contentsOfFile: file(names[0]), encoding: .utf8),
            errors: try String(contentsOfFile: file(names[1]), encoding: .utf8))
    }

    /// A small picture of noise that hardly compresses, about a megabyte a second, with a tone and a keyframe every second.
    func heavyClip(seconds: Int) throws -> String? {
        let path = file("heavy.mp4")
        let noise = "nullsrc=s=256x144:r=25:d=\(seconds),noise=alls=100:allf=t+u"
        let words = [
            "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", noise, "-f", "lavfi", "-i", "sine=d=\(seconds)",
        ]
        guard
            let made = try tool(
                words + ["-c:v", "libx264", "-preset", "ultrafast", "-qp", "6", "-g", "25", "-c:a", "aac", path])
        else { return nil }
        try #require(made.code == 0, "\(made.errors)")
        return path
    }

    /// A moving picture of 25 frames a second with a tone, and a keyframe every second.
    func clip(seconds: Int) throws -> String? {
        let path = file("clip.mp4")
        let made = try tool(
            [
                "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=256x144:r=25:d=\(seconds)", "-f",
                "lavfi",
                "-i", "sine=d=\(seconds)", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "aac", path,
            ])
        guard let made else { return nil }
        try #require(made.code == 0, "\(made.errors)")
        return path
    }

    /// The hash of every picture of a file. ffmpeg must have nothing to say against it.
    func pictures(_ name: String) throws -> [String] {
        let made = try #require(
            try tool(["ffmpeg", "-v", "error", "-i", file(name), "-map", "0:v", "-f", "framemd5", "-"]))
        #expect(made.code == 0 && made.errors.isEmpty, "\(made.errors)")
        return made.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    func sampleEntry(_ name: String) throws -> String {
        let words = ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=codec_tag_string"]
        let made = try #require(try tool(words + ["-of", "csv=p=0", file(name)]))
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func spooled(_ job: String, _ segment: Int) -> String {
        file("state/coordinator/jobs/\(job)/spool/segment-\(segment).spool")
    }

    /// How often each segment was accepted.
    func acceptances(_ job: String) throws -> [Int] {
        try segments(job).map { segment in
            let attempts = segment["attempts"] as? [[String: Any]] ?? []
            return attempts.count { $0["state"] as? String == "accepted" }
        }
    }
}
