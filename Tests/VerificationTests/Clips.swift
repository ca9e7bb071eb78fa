internal import Foundation
internal import Synchronization

/// Clips that the `ffmpeg` program makes: a good source, good outputs, and outputs broken in one way each.
enum Clips {
    /// A folder of this process, removed when it ends.
    static let folder: String = {
        let path = NSTemporaryDirectory() + "weft-verification-\(ProcessInfo.processInfo.processIdentifier)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        removeAtExit(path)
        return path
    }()

    private static let hasProgram: Bool = run(["-version"]) == 0

    /// Six seconds of 320×180 at 25 frames a second, noise, two subtitles, a title and a language.
    static let source: String? = {
        guard hasProgram else {
            print("skipped: no ffmpeg program to make clips with")
            return nil
        }
        let captions = folder + "/captions.srt"
        let text = "1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:02,000 --> 00:00:03,000\nWorld\n\n"
        try? text.write(toFile: captions, atomically: true, encoding: .utf8)
        let path = folder + "/source.mp4"
        let status = run([
            "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=6", "-f", "lavfi", "-i", "anoisesrc=d=6:a=0.1:seed=1", "-i",
            captions, "-c:v", "libx264", "-g", "25", "-preset", "veryfast", "-crf", "12", "-c:a", "aac", "-c:s",
            "mov_text", "-metadata", "title=Film", "-metadata:s:a:0", "language=eng", path,
        ])
        return status == 0 ? path : nil
    }()

    private static let made = Mutex<[String: Bool]>([:])

    /// Makes a clip once: `arguments` are ffmpeg's between the inputs and the output's name; SOURCE stands for the source.
    static func make(_ name: String, _ arguments: String, input: String? = nil) -> String? {
        guard let source = input ?? source else { return nil }
        let path = folder + "/" + name
        let isMade = made.withLock { made in
            if let known = made[name] { return known }
            let words = arguments.split(separator: " ").map { $0 == "SOURCE" ? source : String($0) }
            let result = run(words + [path]) == 0
            made[name] = result
            return result
        }
        return isMade ? path : nil
    }

    @discardableResult
    private static func run(_ arguments: [String]) -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-y", "-v", "error"] + arguments
        process.standardOutput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return -1 }
        process.waitUntilExit()
        return process.terminationStatus
    }
}

private let doomed = Mutex<String?>(nil)

/// The C library calls a function without a context.
private func removeAtExit(_ path: String) {
    doomed.withLock { $0 = path }
    atexit {
        if let path = doomed.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }
}
