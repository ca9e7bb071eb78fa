import Foundation

/// The `ffmpeg` program, which makes the clips of tests.
package enum FFmpegProgram {
    package struct Failed: Error { package let arguments: [String] }

    /// - Returns: `false`, with a line that says "skipped", where there is no such program.
    /// - Throws: when it is there and fails.
    package static func run(_ arguments: [String]) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-y"] + arguments
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus == 127 {
            print("skipped: there is no ffmpeg program to make a clip with")
            return false
        }
        guard process.terminationStatus == 0 else { throw Failed(arguments: arguments) }
        return true
    }
}
