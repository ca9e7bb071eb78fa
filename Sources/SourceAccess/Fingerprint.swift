package import ClusterProtocol
internal import Foundation

extension SourceReference.Fingerprint {
    /// Blocks hashed: head, tail and evenly between.
    private static let sampledBlocks = 8
    private static let blockSize = 64 << 10

    /// Of a file or a URL.
    package static func of(_ location: String) throws(Failure) -> SourceReference.Fingerprint {
        guard !location.contains("://") else { return SourceReference.Fingerprint(size: 0, modified: 0, hash: "") }
        return try of(path: location)
    }

    /// Size and time of a file, without its hash; `nil` for a URL.
    package static func glance(at location: String) throws(Failure) -> (size: Int64, modified: Int64)? {
        guard !location.contains("://") else { return nil }
        var status = stat()
        guard stat(location, &status) == 0 else { throw Failure.sourceUnreadable(location, errno: errno) }
        return (Int64(status.st_size), nanoseconds(status))
    }

    private static func nanoseconds(_ status: stat) -> Int64 {
        Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }

    /// Reads at most 512 KiB of the file, whatever its size.
    package static func of(path: String) throws(Failure) -> SourceReference.Fingerprint {
        // A pipe would otherwise wait for its writer here, beyond the reach of Ctrl-C.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure.sourceUnreadable(path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure.sourceUnreadable(path, errno: errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw Failure.sourceUnreadable(path, errno: EISDIR) }
        guard ![S_IFIFO, S_IFSOCK, S_IFCHR].contains(status.st_mode & S_IFMT) else {
            throw Failure(
                .asset, "\(path) is a pipe or a device, not a file.",
                advice: "Write it to a file first: several processes read a source, each at its own place.",
                exitCode: .badSource)
        }
        let size = Int64(status.st_size)

        var hash = ContentHash()
        withUnsafeBytes(of: size.littleEndian) { hash.update($0) }
        let last = max(0, size - Int64(blockSize))
        var offsets: [Int64] = []
        for block in 0..<sampledBlocks {
            let offset = last / Int64(sampledBlocks - 1) * Int64(block)
            if offsets.last != offset { offsets.append(offset) }
        }
        if offsets.last != last { offsets.append(last) }
        var buffer = [UInt8](repeating: 0, count: blockSize)
        for offset in offsets {
            let count = pread(descriptor, &buffer, blockSize, off_t(offset))
            guard count >= 0 else { throw Failure.sourceUnreadable(path, errno: errno) }
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        return SourceReference.Fingerprint(size: size, modified: nanoseconds(status), hash: hash.finish())
    }
}

extension Failure {
    /// A source that the operating system will not let us read.
    package static func sourceUnreadable(_ path: String, errno code: Int32) -> Failure {
        let (advice, exit): (String, ExitCode) =
            switch code {
            case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG: ("Check the path.", .noSource)
            case EISDIR: ("Name a media file, not a directory.", .noSource)
            case EACCES, EPERM: ("Give yourself read permission on it.", .notPermitted)
            default: ("Check the disk or the mount.", .ioError)
            }
        return Failure(
            .asset, "Cannot read \(path): \(String(cString: strerror(code))).", advice: advice, retry: .giveUp,
            fault: code == EIO ? .environment : .source, code: code, exitCode: exit)
    }
}
