internal import CFFmpeg
internal import Foundation
internal import Synchronization

/// A file that gets its name only when it is whole.
///
/// It is written as `.NAME.weft-XXXXXX.part` beside the target, on the same file system; `commit` makes it durable (fsync), gives it
/// the name in one step (rename) and makes the name durable (fsync of the directory). A process that dies on the way leaves at most
/// the temporary name.
package final class PartialFile {
    package let target: String
    /// Where to write until `commit`.
    package let path: String
    private let overwrites: Bool
    private var isOpen = true
    /// Its place among the names that a process which ends at once still removes.
    private var place: Int?
    private var earlySync: EarlySync?

    /// - Parameter willCreate: told the temporary name before there is such a file, so that one who is killed has noted it.
    /// - Throws: `.alreadyExists`, `.notFound` (no such directory), `.notPermitted`, `.noSpace`.
    package init(target: String, overwrites: Bool, willCreate: (String) -> Void = { _ in }) throws(MediaError) {
        self.target = target
        self.overwrites = overwrites
        let directory = Self.directory(of: target)
        var info = stat()
        if stat(target, &info) == 0 {
            if info.st_mode & S_IFMT == S_IFDIR {
                throw MediaError(.storage, .alreadyExists, "\(target) is a directory.", code: weft_averror(EISDIR))
            }
            guard overwrites else { throw Self.exists(target) }
        }
        let name = target.split(separator: "/").last.map(String.init) ?? ""
        guard !name.isEmpty else { throw MediaError(.storage, .invalidSettings, "The output has no name.") }
        // NAME_MAX counts bytes; the temporary name is longer than the target's.
        let stem = String(decoding: name.utf8.prefix(200), as: UTF8.self)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            let suffix = String(random.next() % 2_176_782_336, radix: 36)
            let candidate = "\(directory)/.\(stem).weft-\(suffix).part"
            willCreate(candidate)
            let descriptor = open(candidate, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o666)
            if descriptor >= 0 {
                Foundation.close(descriptor)
                path = candidate
                place = UnfinishedFiles.note(candidate)
                return
            }
            if errno != EEXIST { break }
        }
        try check(weft_averror(errno), .storage, "\(target) cannot be created.")
        path = ""
    }

    deinit { discard() }

    /// Starts to make the bytes durable on a thread of its own, so that what is done before `commit` costs no extra time. What the
    /// disk refuses is said by `commit`.
    package func startSync() {
        guard isOpen, earlySync == nil else { return }
        earlySync = EarlySync { [path] () throws(MediaError) in try Self.sync(path) }
    }

    /// Makes the bytes durable and gives them their name.
    package func commit() throws(MediaError) {
        guard isOpen else { throw MediaError(.storage, .invalidSettings, "\(target) is already finished.") }
        // The system tells a lost write once, to whoever syncs first (fsync(2)): that one's word counts, too.
        try earlySync?.join()
        try Self.sync(path)
        if !overwrites, link(path, target) == 0 {
            unlink(path)
        } else if !overwrites, errno == EEXIST {
            throw Self.exists(target)
        } else {
            // Without links (FAT, some network file systems) the check and the rename are two steps.
            if !overwrites, access(target, F_OK) == 0 { throw Self.exists(target) }
            guard rename(path, target) == 0 else {
                try check(weft_averror(errno), .storage, "\(target) could not be given its name.")
                return
            }
        }
        close()
        try Self.sync(Self.directory(of: target))
    }

    /// Removes the temporary file for now: whoever writes it makes it again. That it can be made is known, and a process that is
    /// killed before it has written anything leaves nothing.
    package func vacate() {
        guard isOpen, !path.isEmpty else { return }
        unlink(path)
    }

    /// Removes the temporary file; nothing after `commit`.
    package func discard() {
        guard isOpen else { return }
        if !path.isEmpty { unlink(path) }
        close()
    }

    private func close() {
        isOpen = false
        place.map(UnfinishedFiles.forget)
        place = nil
    }

    private static func exists(_ target: String) -> MediaError {
        MediaError(.storage, .alreadyExists, "\(target) exists already.", code: weft_averror(EEXIST))
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func sync(_ path: String) throws(MediaError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            try check(weft_averror(errno), .storage, "\(path) could not be opened for fsync.")
            return
        }
        defer { Foundation.close(descriptor) }
        // EINVAL: this file system cannot sync a directory.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            try check(weft_averror(errno), .storage, "\(path) could not be made durable.")
            return
        }
    }
}

/// An fsync on a thread of its own.
private final class EarlySync: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let failure = Mutex<MediaError?>(nil)

    init(_ sync: @escaping @Sendable () throws(MediaError) -> Void) {
        let thread = Thread { [self] in
            do throws(MediaError) {
                try sync()
            } catch {
                failure.withLock { $0 = error }
            }
            done.signal()
        }
        thread.name = "weft-sync"
        thread.start()
    }

    /// Waits for the end; once.
    func join() throws(MediaError) {
        done.wait()
        // A second call must not wait for ever.
        done.signal()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
