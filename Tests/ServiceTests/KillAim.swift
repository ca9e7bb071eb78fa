import Foundation
import JobStore
import Scheduling
import Testing

/// Where in a job's life a kill comes.
enum KillPhase: String, CaseIterable {
    case planning, leasing, spooling, stitching, finalization
    /// Between the write of a transaction and the end of its fsync.
    case commit

    /// Where there is nothing left to encode, nothing can be met in it.
    /// - Parameter isSpent: the job was held up often enough while it encoded.
    static func feasible(hasAll: Bool, isSpent: Bool) -> [KillPhase] {
        if hasAll { return [.planning, .finalization, .commit] }
        return isSpent ? [.finalization] : [.planning, .leasing, .spooling, .stitching, .commit]
    }
}

/// Waits for a phase, as it can be seen from outside: by files and by what the kernel says of threads, so that looking does not disturb
/// the coordinator.
final class KillAim {
    private let place: Workplace
    private let job: String
    private let target: String
    private let segments: Int
    private static let patience = 2.0
    private static let patienceForAll = 30.0

    init(place: Workplace, job: String, target: String, segments: Int) {
        self.place = place
        self.job = job
        self.target = target
        self.segments = segments
    }

    private func names(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private var spool: [String] { names(place.file("state/coordinator/jobs/\(job)/spool")) }
    private var stored: Int { spool.count { $0.hasSuffix(".spool") } }
    /// What a kill has left does not count.
    private func isSpooling(since time: Date) -> Bool {
        let folder = place.file("state/coordinator/jobs/\(job)/spool")
        return spool.contains { $0.hasSuffix(".part") && Self.isWritten("\(folder)/\($0)", since: time) }
    }

    private func isStitching(since time: Date) -> Bool {
        outputs.contains { Self.size($0) > 0 && Self.isWritten($0, since: time) }
    }

    private static func isWritten(_ path: String, since time: Date) -> Bool {
        var info = stat()
        guard stat(path, &info) == 0 else { return false }
        let written = Double(info.st_mtim.tv_sec) + Double(info.st_mtim.tv_nsec) / 1e9
        return written > time.timeIntervalSince1970
    }

    /// Temporary names of the output.
    private var outputs: [String] {
        names(place.path).filter { $0.contains(target.dropLast(4)) && $0 != target }.map(place.file)
    }

    private static func size(_ path: String) -> Int {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) : 0
    }

    var isOver: Bool { FileManager.default.fileExists(atPath: place.file(target)) }
    var hasAll: Bool { stored == segments }

    /// - Parameter fraction: of the time that is known to belong to the phase.
    /// - Returns: whether the phase was seen to be there.
    func await(_ phase: KillPhase, in process: Int32, fraction: Double) -> Bool {
        let before = stored
        let commit = phase == .commit ? CommitWatch(process, database: place.file("state/coordinator/jobs.db")) : nil
        let began = Date()
        let end = began.addingTimeInterval(phase == .finalization ? Self.patienceForAll : Self.patience)
        while Date() < end, !isOver {
            switch phase {
            // It begins as soon as the coordinator listens, or the job is taken.
            case .planning: return pause(0.03 * fraction)
            // A segment was accepted, so the next one is leased; or all are anew after a start.
            case .leasing: if stored > before || isSpooling(since: began) { return pause(0.15 * fraction) }
            case .spooling: if isSpooling(since: began) { return pause(0.001 * fraction) }
            case .stitching: if isStitching(since: began) { return pause(0.003 * fraction) }
            case .finalization: if hasAll, isStitching(since: began) { return pause(0.2 * fraction) }
            // What was seen must still be so when the kill comes.
            case .commit: if commit?.isInside == true { return true }
            }
            if phase != .commit { usleep(200) }
        }
        return false
    }

    private func pause(_ seconds: Double) -> Bool {
        usleep(UInt32(seconds * 1e6))
        return true
    }
}

/// Whether a process is inside the fsync of its write-ahead log, which the kernel tells of each thread (proc(5), /proc/PID/task/TID/syscall).
private final class CommitWatch {
    private let threads: [String]
    private let files: [String: Bool]
    private let log: String
    private let before: [Int]

    init(_ process: Int32, database: String) {
        log = database + "-wal"
        before = Self.state(log)
        let tasks = "/proc/\(process)/task"
        threads = ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).map { "\(tasks)/\($0)/syscall" }
            .filter { Self.read($0) != nil }
        let descriptors = "/proc/\(process)/fd"
        var files: [String: Bool] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? [] {
            guard let number = Int(name) else { continue }
            let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)")) ?? ""
            files["0x" + String(number, radix: 16)] = path.hasPrefix(database)
        }
        self.files = files
    }

    /// fsync and fdatasync, by the numbers of x86-64 and of arm64.
    private static let syncs: Set<Substring> = ["74", "75", "82", "83"]

    var isInside: Bool {
        // Where the kernel does not tell: the log was just written.
        guard !threads.isEmpty else { return Self.state(log) != before }
        return threads.contains { path in
            guard let words = Self.read(path)?.split(separator: " "), words.count > 1 else { return false }
            return Self.syncs.contains(words[0]) && files[String(words[1])] == true
        }
    }

    private static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private static func state(_ path: String) -> [Int] {
        var info = stat()
        guard stat(path, &info) == 0 else { return [] }
        return [Int(info.st_size), Int(info.st_mtim.tv_sec), Int(info.st_mtim.tv_nsec)]
    }
}

/// The job store as a kill has left it, read from a copy.
struct KillScene {
    private let place: Workplace
    private let id: JobID
    private let record: JobRecord
    private let segments: [SegmentRecord]
    private let events: [String]
    private let openLeases: Int

    init(_ place: Workplace, job: String) throws {
        self.place = place
        id = JobID(job)
        let copy = place.file("scene")
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        for name in ["jobs.db", "jobs.db-wal"] {
            let from = place.file("state/coordinator/\(name)")
            guard FileManager.default.fileExists(atPath: from) else { continue }
            try FileManager.default.copyItem(atPath: from, toPath: "\(copy)/\(name)")
        }
        let store = try JobStore(at: copy + "/jobs.db")
        record = try #require(try store.job(id))
        segments = try store.segments(of: id)
        events = try store.events(of: id, limit: 100_000).map(\.kind)
        openLeases = try store.leases(of: id, openOnly: true).count
    }

    /// - Returns: `nil` where the job was over.
    func phase(aimedAt aim: KillPhase, isSeen: Bool, note: Comment) throws -> KillPhase? {
        checkSpool(note)
        if record.state.isOver { return nil }
        if aim == .commit, isSeen { return .commit }
        let hasAll = !segments.isEmpty && segments.allSatisfy { if case .finished = $0 { true } else { false } }
        // The output has bytes of this run.
        if hasAll, isSeen, aim == .finalization { return .finalization }
        let begun = events.lastIndex { $0 == "recovered" || $0 == "submitted" } ?? 0
        let isPlanned = events[min(begun, events.count)...].contains { $0 == "started" || $0 == "stitching" }
        if segments.isEmpty || !isPlanned { return .planning }
        if hasAll { return .finalization }
        if isSeen, aim == .spooling || aim == .stitching { return aim }
        return .leasing
    }

    /// What counts as accepted is there.
    private func checkSpool(_ note: Comment) {
        for case .finished(let segment) in segments {
            let path = place.file("state/coordinator/jobs/\(id.text)/spool/\(segment.spoolFile)")
            #expect(
                FileManager.default.fileExists(atPath: path), "\(note): segment \(segment.index) is claimed and lost")
        }
    }
}
