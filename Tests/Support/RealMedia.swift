import Foundation

/// Real files, where there are any: the folder that `WEFT_MEDIA` names, else `../shared/media` beside the package.
package enum RealMedia {
    package static let folder: String? = {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let candidates: [String?] = [
            ProcessInfo.processInfo.environment["WEFT_MEDIA"],
            package.deletingLastPathComponent().appendingPathComponent("shared/media").path,
        ]
        return candidates.compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
    }()

    /// The file's path, or `nil` with a word on why there is no test.
    package static func path(_ name: String) -> String? {
        guard let folder else {
            print("skipped: no folder of real media (set WEFT_MEDIA)")
            return nil
        }
        let path = folder + "/" + name
        guard FileManager.default.fileExists(atPath: path) else {
            print("skipped: \(path) is not there")
            return nil
        }
        return path
    }

    package static var all: [String] {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return names.filter { !$0.hasPrefix(".") && !$0.hasSuffix(".tsv") && !$0.hasSuffix(".md") }.sorted()
    }
}
