internal import Foundation

/// The order of an MP4 file's outermost boxes (ISO/IEC 14496-12 §4.2).
struct TopLevelBoxes {
    private var offsets: [String: UInt64] = [:]
    private var index = Data()
    /// Where the media ends, as far as its boxes tell.
    private(set) var mediaEnd: UInt64 = 0
    /// Every box ends within the file.
    private(set) var isWhole = true

    /// - Returns: `nil` where the path is no file.
    init?(path: String) {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let end = try? file.seekToEnd() else { return nil }
        var offset: UInt64 = 0
        defer { index = Self.index(file, offsets["moov"]) }
        // More boxes than this at the outermost level are fragments, whose order is not of interest.
        for _ in 0..<1024 {
            guard offset + 8 <= end, (try? file.seek(toOffset: offset)) != nil,
                let header = try? file.read(upToCount: 16), header.count >= 8
            else { return }
            let bytes = Array(header)
            func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
            let name = String(decoding: bytes[4..<8], as: UTF8.self)
            if offsets[name] == nil { offsets[name] = offset }
            var size = number(0..<4)
            // To the end of the file.
            if size == 0 { return }
            if size == 1 {
                guard bytes.count >= 16 else { return }
                size = number(8..<16)
            }
            let (next, overflow) = offset.addingReportingOverflow(size)
            guard size >= 8, !overflow else { return }
            if next > end { isWhole = false }
            if name == "mdat" { mediaEnd = max(mediaEnd, next) }
            offset = next
        }
    }

    func first(_ name: String) -> UInt64? { offsets[name] }

    /// Whether a type's four letters occur in the index; by their pattern, which is enough for a doubt.
    func indexHas(_ name: String) -> Bool { index.range(of: Data(name.utf8)) != nil }

    /// The index's own bytes; more than this no film needs.
    private static func index(_ file: FileHandle, _ offset: UInt64?) -> Data {
        guard let offset, (try? file.seek(toOffset: offset)) != nil else { return Data() }
        return (try? file.read(upToCount: 256 << 20)) ?? Data()
    }
}
