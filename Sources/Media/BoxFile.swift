internal import Foundation

/// Reads headers of boxes with pread, nothing else.
final class BoxFile {
    struct Box {
        var type: String
        var body: Range<Int64>
        /// Where it says that it ends, which may be beyond what holds it.
        var declaredEnd: Int64
    }

    private let descriptor: Int32
    let size: Int64

    init?(path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        size = Int64(info.st_size)
    }

    deinit { close(descriptor) }

    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
    }

    func bytes(of box: Box, limit: Int) -> [UInt8] {
        bytes(at: box.body.lowerBound, count: min(limit, Int(box.body.count)))
    }

    func children(of range: Range<Int64>) -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        // A fragmented file has a box for every fragment; a moov after a hundred thousand of them is not looked for.
        while offset <= range.upperBound - 8, boxes.count < 100_000 {
            let header = bytes(at: offset, count: 16)
            guard let short = MovieBoxes.number(header, at: 0, bytes: 4), header.count >= 8 else { break }
            var length = Int64(short)
            var headerLength: Int64 = 8
            if short == 1 {
                guard let long = MovieBoxes.number(header, at: 8, bytes: 8) else { break }
                length = Int64(clamping: long)
                headerLength = 16
            } else if short == 0 {
                length = range.upperBound - offset
            }
            let declaredEnd = offset.addingReportingOverflow(length)
            let isWhole = length >= headerLength && length <= range.upperBound - offset
            // A cut-off last box still has a type.
            if !isWhole { length = range.upperBound - offset }
            guard length >= headerLength else { break }
            boxes.append(
                Box(
                    type: Self.type(header), body: (offset + headerLength)..<(offset + length),
                    declaredEnd: declaredEnd.overflow ? .max : declaredEnd.partialValue))
            guard isWhole else { break }
            offset += length
        }
        return boxes
    }

    private static func type(_ header: [UInt8]) -> String { String(decoding: header[4..<8], as: UTF8.self) }
}
