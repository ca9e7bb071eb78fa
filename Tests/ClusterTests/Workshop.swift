import Foundation

/// A folder of one test: clips, outputs and state, gone with the test.
final class Workshop {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/weft-test-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
    var state: String { file("state") }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file(name))) }

    /// What lies beside the outputs that nobody asked for.
    var leftovers: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasPrefix(".") }
    }

    /// Jobs that have something under the state directory.
    var jobs: [String] { (try? FileManager.default.contentsOfDirectory(atPath: state + "/exports")) ?? [] }

    /// Paths of the finished segments in the spool.
    var spooled: [String] {
        jobs.flatMap { job in
            let folder = state + "/exports/" + job + "/spool"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.filter { $0.hasSuffix(".spool") }.map { folder + "/" + $0 }
        }.sorted()
    }

    // MARK: Clips

    /// Moving test pictures with a tone, a keyframe each second.
    func makeClip(_ name: String = "clip.mp4", seconds: Int, size: String = "320x180", rate: Int = 25) throws {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=\(rate)", "-f", "lavfi", "-i", "sine=sample_rate=48000",
            "-t", "\(seconds)", "-c:v", "libx264", "-preset", "ultrafast", "-g", "\(rate)", "-pix_fmt", "yuv420p",
            "-c:a", "aac", "-shortest", file(name))
    }

    /// Tiny pictures without sound, a keyframe every two seconds: many segments in little time.
    func makeLongClip(_ name: String, minutes: Int) throws {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x36:rate=5", "-t", "\(minutes * 60)", "-c:v", "libx264", "-preset",
            "ultrafast", "-g", "10", "-pix_fmt", "yuv420p", file(name))
    }

    private func ffmpeg(_ words: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-v", "error", "-nostdin", "-y"] + words
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Trouble("ffmpeg made no clip") }
    }
}

/// Why a test could not do what it wanted to look at.
struct Trouble: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Waits for a condition that other processes bring about.
@discardableResult
func awaited<Value>(_ what: String, seconds: Double = 60, _ look: () throws -> Value?) throws -> Value {
    let end = Date().addingTimeInterval(seconds)
    while Date() < end {
        if let value = try look() { return value }
        usleep(20_000)
    }
    throw Trouble("waited \(seconds) s in vain for \(what)")
}
