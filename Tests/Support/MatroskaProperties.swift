import Foundation

/// The `mkvpropedit` program, which changes a Matroska file's headers in place.
package enum MatroskaProperties {
    package struct Failed: Error { package let arguments: [String] }

    /// - Parameters:
    ///   - track: as mkvpropedit names it, `v1`, `a2`.
    ///   - values: by property, `pixel-crop-top`.
    /// - Returns: `false`, with a line that says "skipped", where there is no such program.
    package static func set(_ values: [String: String], track: String, of path: String) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let changes = values.sorted { $0.key < $1.key }.flatMap { ["--set", "\($0.key)=\($0.value)"] }
        let arguments = ["mkvpropedit", "--quiet", path, "--edit", "track:\(track)"] + changes
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus == 127 {
            print("skipped: there is no mkvpropedit program to change a clip with")
            return false
        }
        guard process.terminationStatus == 0 else { throw Failed(arguments: arguments) }
        return true
    }
}
