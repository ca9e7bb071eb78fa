package import ClusterProtocol
internal import Foundation
package import Media

extension SourceReference.Fingerprint {
    /// Blocks hashed: head, tail and evenly between.
    private static let sampledBlocks = 8
    private static let blockSize = 64 << 10

    /// Whether it tells one content from another: not of a URL whose server names no size or gives no ranges.
    package var isKnown: Bool { !hash.isEmpty }

    /// Of a file or a URL.
    /// - Parameter isPatient: it was there before, and is waited for a little where a server cannot be reached.
    package static func of(
        _ location: String, isPatient: Bool = false, interrupt: InterruptFlag? = nil
    ) throws(Failure) -> SourceReference.Fingerprint {
        guard location.contains("://") else { return try of(path: location) }
        do throws(MediaError) {
            return try of(url: location, isPatient: isPatient, interrupt: interrupt)
        } catch {
            throw Failure(error, role: .source)
        }
    }

    /// Size and time, without the hash; the time of a URL is 0. libavformat keeps a server's ETag and Last-Modified to itself.
    package static func glance(
        at location: String, interrupt: InterruptFlag? = nil
    ) throws(Failure) -> (size: Int64, modified: Int64) {
        guard location.contains("://") else {
            var status = stat()
            guard stat(location, &status) == 0 else { throw Failure.sourceUnreadable(location, errno: errno) }
            return (Int64(status.st_size), nanoseconds(status))
        }
        do throws(MediaError) {
            return (try ByteSource(location: location, isPatient: true, interrupt: interrupt).size ?? 0, 0)
        } catch {
            throw Failure(error, role: .source)
        }
    }

    /// The same blocks as of a file, in one request each.
    private static func of(
        url: String, isPatient: Bool, interrupt: InterruptFlag?
    ) throws(MediaError) -> SourceReference.Fingerprint {
        let source = try ByteSource(location: url, isPatient: isPatient, interrupt: interrupt)
        guard let size = source.size else { return SourceReference.Fingerprint(size: 0, modified: 0, hash: "") }
        var hash = ContentHash()
        withUnsafeBytes(of: size.littleEndian) { hash.update($0) }
        for offset in offsets(size: size) { hash.update(try source.read(at: offset, count: blockSize)) }
        return SourceReference.Fingerprint(size: size, modified: 0, hash: hash.finish())
    }

    /// Where the sampled blocks begin.
    private static func offsets(size: Int64) -> [Int64] {
        let last = max(0, size - Int64(blockSize))
        var offsets: [Int64] = []
        for block in 0..<sampledBlocks {
            let offset = last / Int64(sampledBlocks - 1) * Int64(block)
            if offsets.last != offset { offsets.append(offset) }
        }
        if offsets.last != last { offsets.append(last) }
        return offsets
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
        var buffer = [UInt8](repeating: 0, count: blockSize)
        for offset in offsets(size: size) {
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
