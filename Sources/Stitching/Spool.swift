package import ClusterProtocol
internal import Foundation
internal import Media
internal import SourceAccess

/// The durable store of completed segments: one file a segment, in one directory a job.
///
/// A file is written under a temporary name, synced, and renamed before anything claims that the segment is done.
package struct Spool: Sendable {
    package let directory: String

    /// Creates the directory (0700) when it is missing.
    package init(directory: String) throws(Failure) {
        self.directory = directory
        // One after another, for the system's own reason where it refuses.
        var path = directory.hasPrefix("/") ? "" : "."
        for name in directory.split(separator: "/") {
            path += "/" + name
            guard mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            let code = errno
            // An automounter answers for a directory that is there with what it thinks of making it.
            var info = stat()
            if stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR { continue }
            throw Failure(
                .storage, "Cannot create the directory \(path): \(String(cString: strerror(code))).",
                advice: code == ENOSPC || code == EDQUOT
                    ? "Free some space, or choose another --state directory." : "Choose another --state directory.",
                fault: .environment, code: code, exitCode: .cannotCreate)
        }
    }

    /// Makes the names of completed segments durable: a rename is so only once its directory is (fsync(2)).
    package func sync() throws(Failure) { try DirectorySync.sync(directory) }

    /// Removes what an earlier process left: files of attempts that did not end, and with `keepsSegments` false all others.
    package func clean(keepsSegments: Bool) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in names where name.hasPrefix("segment-") && (name.hasSuffix(".part") || !keepsSegments) {
            unlink(directory + "/" + name)
        }
    }

    /// The name a completed segment's file has, relative to the directory.
    package static func fileName(ofSegment index: Int) -> String { "segment-\(index).spool" }

    package func path(ofSegment index: Int) -> String { directory + "/" + Self.fileName(ofSegment: index) }

    /// Starts the file of one attempt. Two attempts of one segment write two temporary files.
    package func makeWriter(segment: Int, lease: UInt64) throws(Failure) -> SpoolWriter {
        try SpoolWriter(
            temporary: directory + "/segment-\(segment).\(lease).part", path: path(ofSegment: segment),
            directory: directory)
    }

    /// - Parameter expectedHash: what `SpoolWriter.finish` returned; a file whose bytes have another hash does not open. `nil` does
    ///   not look.
    package func openSegment(_ index: Int, expectedHash: String? = nil) throws(Failure) -> SpooledSegment {
        try SpooledSegment(path: path(ofSegment: index), index: index, expectedHash: expectedHash)
    }

    /// Removes the directory with everything in it.
    ///
    /// A file system that gives freed blocks back at once (ext4 with `discard`) takes milliseconds a file, and several at a
    /// time: one after another, thousands of segments would keep a finished export waiting for seconds.
    package func remove() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let share = max(64, (names.count + 15) / 16)
        let parts = stride(from: 0, to: names.count, by: share).map { names[$0..<min($0 + share, names.count)] }
        let group = DispatchGroup()
        for part in parts {
            group.enter()
            Thread { [directory] in
                for name in part { unlink(directory + "/" + name) }
                group.leave()
            }.start()
        }
        group.wait()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// An operating system error while the spool is read or written.
    static func failure(_ doing: String, _ path: String, errno code: Int32) -> Failure {
        let isFull = code == ENOSPC || code == EDQUOT
        return Failure(
            .storage, "Cannot \(doing) \(path): \(String(cString: strerror(code))).",
            advice: isFull
                ? "Free some space and run the same command with --resume."
                : "Check the disk under the state directory.",
            retry: .retry, fault: .environment, code: code, exitCode: isFull ? .cannotCreate : .ioError)
    }
}

/// The trailer of a spool file: how long the three parts before it are.
struct SpoolTrailer {
    static let magic: UInt64 = 0x3146_5357_5446_4557  // "WEFTWSF1", little-endian
    static let size = 32

    var payload: UInt64
    var table: UInt64
    var archive: UInt64

    var bytes: [UInt8] {
        [payload, table, archive, Self.magic].flatMap { value in withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    }

    /// - Returns: `nil` unless the magic is right and the parts make up exactly `fileSize`.
    init?(bytes: [UInt8], fileSize: UInt64) {
        guard bytes.count == Self.size else { return nil }
        let words = (0..<4).map { word in
            (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[word * 8 + $1]) << UInt64($1 * 8) }
        }
        guard words[3] == Self.magic else { return nil }
        var total = UInt64(Self.size)
        for part in words[0..<3] {
            let (sum, overflow) = total.addingReportingOverflow(part)
            guard !overflow else { return nil }
            total = sum
        }
        guard total == fileSize else { return nil }
        self.init(payload: words[0], table: words[1], archive: words[2])
    }

    init(payload: UInt64, table: UInt64, archive: UInt64) {
        self.payload = payload
        self.table = table
        self.archive = archive
    }
}

/// Receives one attempt's samples in order and makes them durable.
package final class SpoolWriter {
    private let temporary: String
    private let path: String
    private let directory: String
    private var descriptor: Int32
    private var hash = ContentHash()
    /// Payload bytes written so far.
    package private(set) var size: Int64 = 0

    init(temporary: String, path: String, directory: String) throws(Failure) {
        self.temporary = temporary
        self.path = path
        self.directory = directory
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Spool.failure("create", temporary, errno: errno) }
    }

    deinit { cancel() }

    package func append(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try write(bytes)
        size += Int64(bytes.count)
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        try bytes.span.withUnsafeBytes { (raw) throws(Failure) in try write(raw) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw Spool.failure("write", temporary, errno: errno)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        hash.update(bytes)
    }

    /// Checks the slot's hash, the table and the format, adds these two, syncs and renames. The name is durable after `Spool.sync`.
    ///
    /// - Parameters:
    ///   - expectedHash: XXH3-128 over the payload, as the slot computed it.
    ///   - samples: how many the slot announced.
    ///   - times: what the segment owns: pictures of other times do not belong to it.
    /// - Returns: XXH3-128 over everything before the trailer, for `SpooledSegment.isIntact`.
    package func finish(
        table: [UInt8], archive: [UInt8], expectedHash: String, samples: Int? = nil, times: Range<Int64>? = nil
    ) throws(Failure) -> String {
        try check(table, archive, samples: samples, times: times)
        let payload = UInt64(size)
        let found = hash.finish()
        guard found == expectedHash else {
            throw Failure(
                .transport, "The segment arrived altered: its bytes are not those that the slot hashed.",
                advice: "It is encoded again; if it repeats, check that worker's memory and network.",
                retry: .elsewhere, fault: .worker, log: ["hash \(found), announced \(expectedHash)"])
        }
        try write(table)
        try write(archive)
        let whole = hash.finish()
        let trailer = SpoolTrailer(payload: payload, table: UInt64(table.count), archive: UInt64(archive.count))
        try write(trailer.bytes)
        guard fdatasync(descriptor) == 0 else { throw Spool.failure("sync", temporary, errno: errno) }
        close(descriptor)
        descriptor = -1
        guard rename(temporary, path) == 0 else { throw Spool.failure("rename", temporary, errno: errno) }
        return whole
    }

    /// The payload's hash says nothing of these two: what cannot be read later is refused while it can be made again.
    private func check(
        _ table: [UInt8], _ archive: [UInt8], samples: Int?, times: Range<Int64>?
    ) throws(Failure) {
        let reason: String
        do {
            let parsed = try table.span.withUnsafeBytes { (bytes) throws(ProtocolError) in
                try SampleTable(bytes: bytes, payloadBytes: size, samples: samples)
            }
            _ = try FormatDescription(archive: archive)
            guard let fault = parsed.fault(inSegment: times) else { return }
            reason = fault
        } catch {
            reason = "\(error)"
        }
        throw Failure(
            .transport, "A segment arrived with a description that cannot be used: \(reason).",
            advice: "It is encoded again; if it repeats, check that worker's memory and version.", retry: .elsewhere,
            fault: .worker)
    }

    /// Forgets the attempt and removes its temporary file.
    package func cancel() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(temporary)
    }
}

extension SampleTable {
    /// Why these cannot be the samples of one segment that was encoded by itself; `nil` where nothing speaks against it.
    func fault(inSegment times: Range<Int64>?) -> String? {
        if entries.contains(where: { $0.pts == SampleTable.noTime }) { return "a sample has no time" }
        guard let times else { return nil }
        // Pictures that share a time are moved by a tick each, the last ones perhaps beyond the end.
        let (end, isTooLong) = times.upperBound.addingReportingOverflow(Int64(entries.count))
        guard !isTooLong else { return "its times are beyond all bounds" }
        if let stranger = entries.first(where: {
            !$0.flags.contains(.discard) && !(times.lowerBound..<end).contains($0.pts)
        }) {
            return
                "a picture has the time \(stranger.pts), which is not in the segment (\(times.lowerBound) to \(times.upperBound))"
        }
        if let first = entries.first, !first.flags.contains(.sync) { return "it does not begin with a key picture" }
        let shown = entries.lazy.filter { !$0.flags.contains(.discard) }.map(\.pts)
        return Set(shown).count == shown.count ? nil : "two pictures have the same time"
    }
}

/// A rename is durable only once its directory is (fsync(2)).
enum DirectorySync {
    static func sync(_ directory: String) throws(Failure) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Spool.failure("open", directory, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Spool.failure("sync", directory, errno: errno) }
    }
}
