package import ClusterProtocol
internal import Foundation
package import Media
package import MediaTime
internal import SourceAccess

/// A completed segment in the spool, opened for reading.
package final class SpooledSegment: SegmentContent {
    package let index: Int
    package let format: FormatDescription
    private let table: SampleTable
    private let descriptor: Int32
    private let path: String
    /// Where each sample's bytes start.
    private let offsets: [UInt64]
    /// Read-ahead of the payload: samples are asked for in order.
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0
    private static let windowSize = 1 << 20
    private let payload: UInt64

    init(path: String, index: Int, expectedHash: String? = nil) throws(Failure) {
        self.path = path
        self.index = index
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Spool.failure("open", path, errno: errno) }
        do throws(Failure) {
            if let expectedHash, try Self.hash(descriptor, path) != expectedHash { throw Self.damaged(path) }
            let parts = try Self.readParts(descriptor, path)
            payload = parts.trailer.payload
            guard let table = parts.table.withUnsafeBytes({ try? SampleTable(bytes: $0) }),
                let format = try? FormatDescription(archive: parts.archive)
            else { throw Self.damaged(path) }
            self.table = table
            self.format = format
        } catch {
            close(descriptor)
            throw error
        }
        var offsets: [UInt64] = []
        offsets.reserveCapacity(table.entries.count)
        var offset: UInt64 = 0
        for entry in table.entries {
            offsets.append(offset)
            offset += UInt64(entry.size)
        }
        self.offsets = offsets
        guard offset == payload else { throw Self.damaged(path) }
    }

    /// A spool file that came over a connection.
    package convenience init(receivedAt path: String, index: Int, expectedHash: String) throws(Failure) {
        do {
            try self.init(path: path, index: index, expectedHash: expectedHash)
        } catch {
            guard error.code == SpoolDamage.code else { throw error }
            throw Failure(
                .storage, "Segment \(index) is altered: its bytes are not those that were accepted.",
                advice: "`weft retry` it with --segment \(index); check the coordinator's disk if it repeats.",
                fault: .environment, code: SpoolDamage.code, exitCode: .ioError)
        }
    }

    deinit { close(descriptor) }

    package var count: Int { table.entries.count }

    /// What the slot's table says of each sample, in decode order.
    package var entries: [SampleTable.Entry] { table.entries }

    /// In decode order, ticks of the job's time base.
    package var presentationTimes: [Int64] { table.entries.map(\.pts) }

    package var damage: SampleTable.Damage { table.damage }

    /// The sample with its bytes, at the times given.
    package func sample(
        _ number: Int, pts: Int64, dts: Int64, duration: Int64, timeBase: TimeBase
    ) throws(Failure) -> Sample {
        let entry = table.entries[number]
        let start = offsets[number]
        try load(start, count: Int(entry.size))
        let from = Int(start - windowStart)
        let made = window.withUnsafeBytes { bytes in
            Result { () throws(MediaError) in
                try Sample(
                    bytes: UnsafeRawBufferPointer(rebasing: bytes[from..<(from + Int(entry.size))]), format: format,
                    timeBase: timeBase, pts: pts, dts: dts, duration: duration, isSync: entry.flags.contains(.sync))
            }
        }
        return try made.mapError { Failure($0, role: .output) }.get()
    }

    private func load(_ start: UInt64, count: Int) throws(Failure) {
        let end = start + UInt64(count)
        guard start < windowStart || end > windowStart + UInt64(window.count) else { return }
        let wanted = Int(min(UInt64(max(Self.windowSize, count)), payload - start))
        window = try Self.read(descriptor, path, at: start, count: wanted)
        windowStart = start
    }

    // MARK: File

    private static func readParts(
        _ descriptor: Int32, _ path: String
    ) throws(Failure) -> (trailer: SpoolTrailer, table: [UInt8], archive: [UInt8]) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Spool.failure("read", path, errno: errno) }
        let size = UInt64(max(0, status.st_size))
        guard size >= UInt64(SpoolTrailer.size) else { throw damaged(path) }
        let tail = try read(descriptor, path, at: size - UInt64(SpoolTrailer.size), count: SpoolTrailer.size)
        guard let trailer = SpoolTrailer(bytes: tail, fileSize: size),
            trailer.table <= UInt64(ProtocolLimits.tableBytes), trailer.archive <= UInt64(ProtocolLimits.formatBytes)
        else { throw damaged(path) }
        let table = try read(descriptor, path, at: trailer.payload, count: Int(trailer.table))
        let archive = try read(descriptor, path, at: trailer.payload + trailer.table, count: Int(trailer.archive))
        return (trailer, table, archive)
    }

    private static func read(
        _ descriptor: Int32, _ path: String, at offset: UInt64, count: Int
    ) throws(Failure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = buffer.withUnsafeMutableBytes { bytes in
                pread(descriptor, bytes.baseAddress.map { $0 + done }, count - done, off_t(offset) + off_t(done))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw Spool.failure("read", path, errno: errno) }
            guard got > 0 else { throw damaged(path) }
            done += got
        }
        return buffer
    }

    /// Whether the file is whole: it opens, and its bytes have this hash (XXH3-128 of everything before the trailer).
    package static func isIntact(path: String, hash expected: String) -> Bool {
        (try? SpooledSegment(path: path, index: 0, expectedHash: expected)) != nil
    }

    private static func hash(_ descriptor: Int32, _ path: String) throws(Failure) -> String {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Spool.failure("read", path, errno: errno) }
        guard status.st_size >= SpoolTrailer.size else { throw damaged(path) }
        var hash = ContentHash()
        var offset: UInt64 = 0
        let end = UInt64(status.st_size) - UInt64(SpoolTrailer.size)
        while offset < end {
            let count = Int(min(UInt64(windowSize), end - offset))
            hash.update(try read(descriptor, path, at: offset, count: count))
            offset += UInt64(count)
        }
        return hash.finish()
    }

    private static func damaged(_ path: String) -> Failure {
        Failure(
            .storage, "The spool file \(path) is short or altered.",
            advice: "With --resume (or `weft retry`) its segment is encoded again; check the disk if it repeats.",
            retry: .retry, fault: .environment, code: SpoolDamage.code, exitCode: .ioError)
    }
}

/// What is wrong with a spool file that can be helped by making it anew.
package enum SpoolDamage {
    /// Short or altered.
    package static let code: Int32 = 0x5344  // 'SD'

    package static func isMendable(_ failure: Failure) -> Bool {
        failure.boundary == .storage && [code, ENOENT, ENOTDIR, EIO, EISDIR].contains(failure.code)
    }
}
