import ClusterProtocol
import Foundation
import JobStore
import Scheduling
import Testing

@Suite("Crashes, damage and other people's files") struct DurabilityTests {
    private typealias Temporary = TemporaryStore

    @Test("Lease numbers never repeat, whatever part of a block was used") func leases() throws {
        let temporary = try Temporary()
        var next: UInt64 = 1
        for count in [1000, 1, 50, 0, -5] {
            let range = try temporary.open().reserveLeases(count)
            #expect(range == next..<next + UInt64(max(count, 1)))
            next = range.upperBound
        }
    }

    /// What is on the disk at some instant is what a crash at that instant leaves: a copy of the files while the store is
    /// in use has to open and to hold every commit that had returned.
    @Test("A crash at any instant loses nothing that was committed") func crash() throws {
        let temporary = try Temporary()
        let store = try temporary.open()
        try store.createJob(try Temporary.job(segments: 60))
        for index in 0..<60 {
            let lease = try store.reserveLeases(10).lowerBound
            try store.acceptSegment(Temporary.accepted(index, lease: lease), of: Temporary.film, at: 1)
            let copy = try Temporary()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: temporary.path + suffix, toPath: copy.path + suffix)
            }
            let recovered = try copy.open()
            #expect(try recovered.progress(of: Temporary.film).finished.count == index + 1)
            #expect(try recovered.reserveLeases(1).lowerBound > lease + 9)
        }
    }

    @Test("A torn end of the log costs the unfinished commit and nothing else") func tornLog() throws {
        let temporary = try Temporary()
        let copy = try Temporary()
        do {
            let store = try temporary.open()
            try store.createJob(try Temporary.job())
            try FileManager.default.copyItem(atPath: temporary.path, toPath: copy.path)
            var log = try Data(contentsOf: URL(fileURLWithPath: temporary.path + "-wal"))
            let committed = log.count
            try store.acceptSegment(Temporary.accepted(1, lease: 1), of: Temporary.film, at: 1)
            log = try Data(contentsOf: URL(fileURLWithPath: temporary.path + "-wal"))
            #expect(log.count > committed)
            try log.prefix(committed + (log.count - committed) / 2).write(to: URL(fileURLWithPath: copy.path + "-wal"))
        }
        let recovered = try copy.open()
        #expect(try recovered.segments(of: Temporary.film)[1] == .pending(index: 1))
        try recovered.acceptSegment(Temporary.accepted(1, lease: 2), of: Temporary.film, at: 1)
    }

    @Test("A second owner is told that the store is busy, and gets it afterwards") func busy() throws {
        let temporary = try Temporary()
        var first: JobStore? = try temporary.open()
        try first?.createJob(try Temporary.job())
        do {
            _ = try temporary.open()
            Issue.record("two owners")
        } catch let error as JobStoreError {
            #expect(error.kind == .busy && error.isRetriable && !error.isFatal)
            #expect(error.failure.exitCode == .temporary && error.failure.advice.contains("--state"))
        }
        first = nil
        #expect(try temporary.open().jobs().count == 1)
    }

    @Test("A text file is not a job store, and stays as it is") func textFile() throws {
        let temporary = try Temporary()
        let text = Data(String(repeating: "This is not a database.\n", count: 100).utf8)
        try text.write(to: URL(fileURLWithPath: temporary.path))
        #expect(errorKind { _ = try temporary.open() } == .notADatabase)
        #expect(try Data(contentsOf: URL(fileURLWithPath: temporary.path)) == text)
    }

    @Test("Another program's database is refused") func foreign() throws {
        let temporary = try Temporary()
        do { _ = try JobStore(at: temporary.path) }
        // The application id is the big-endian word at byte 68 (sqlite.org/fileformat2.html §1.3).
        var bytes = try Data(contentsOf: URL(fileURLWithPath: temporary.path))
        bytes.replaceSubrange(68..<72, with: [1, 2, 3, 4])
        try bytes.write(to: URL(fileURLWithPath: temporary.path))
        #expect(errorKind { _ = try temporary.open() } == .foreign)
    }

    @Test("A damaged store is an error, not a crash", arguments: 0..<40)
    func damaged(seed: Int) throws {
        let temporary = try Temporary()
        do {
            let store = try temporary.open()
            try store.createJob(try Temporary.job(segments: 500))
            for index in 0..<300 {
                try store.acceptSegment(Temporary.accepted(index, lease: UInt64(index + 1)), of: Temporary.film, at: 1)
            }
        }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: temporary.path))
        // A page and a little, anywhere behind the header.
        let start = 100 + (bytes.count - 5100) * seed / 40
        bytes.replaceSubrange(start..<start + 5000, with: (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed) })
        try bytes.write(to: URL(fileURLWithPath: temporary.path))
        let kind = errorKind {
            let store = try temporary.open()
            _ = try store.jobs()
            _ = try store.progress(of: Temporary.film)
        }
        #expect(kind == .corrupt || kind == .notADatabase || kind == .malformed || kind == .foreign)
    }

    @Test("An older schema is brought up to date and keeps its rows") func migration() throws {
        let temporary = try Temporary()
        do { try temporary.open().createJob(try Temporary.job()) }
        let added = Migration("ALTER TABLE jobs ADD COLUMN note TEXT; UPDATE jobs SET priority = 7;")
        do { _ = try JobStore(at: temporary.path, migrations: Migration.all + [added]) }
        let store = try JobStore(at: temporary.path, migrations: Migration.all + [added])
        #expect(try store.jobs().map(\.priority) == [7])
    }

    @Test("A step that fails leaves the schema as it was") func failedMigration() throws {
        let temporary = try Temporary()
        do { try temporary.open().createJob(try Temporary.job()) }
        let broken = Migration("UPDATE jobs SET priority = 7; SELECT no_such_function();")
        #expect(errorKind { _ = try JobStore(at: temporary.path, migrations: Migration.all + [broken]) } == .other)
        #expect(try temporary.open().jobs().map(\.priority) == [2])
    }

    @Test("A store of a newer version is refused, not misread") func newer() throws {
        let temporary = try Temporary()
        do { _ = try JobStore(at: temporary.path, migrations: Migration.all + [Migration("CREATE TABLE t (x)")]) }
        #expect(errorKind { _ = try temporary.open() } == .tooNew)
    }

    @Test("Places where no store can be", arguments: ["", ":memory:", "/nonexistent/weft/jobs.sqlite", "/tmp"])
    func impossible(path: String) {
        #expect(errorKind { _ = try JobStore(at: path) } == .cannotOpen)
    }
}
