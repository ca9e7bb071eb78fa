/// One step of the schema. Steps are only ever added: what a released version has run stays as it is.
package struct Migration: Sendable {
    package var sql: String

    package init(_ sql: String) {
        self.sql = sql
    }

    package static let all: [Migration] = [initial, reports]

    private static let reports = Migration("ALTER TABLE jobs ADD COLUMN report TEXT;")

    // A segment without a row is pending, so that a job of 100,000 segments costs one row to create.
    // A lease can be accepted once: the unique index is the last guard behind the scheduler's own.
    private static let initial = Migration(
        """
        CREATE TABLE jobs (
            id TEXT NOT NULL PRIMARY KEY,
            state TEXT NOT NULL,
            priority INTEGER NOT NULL,
            destination TEXT NOT NULL,
            settings TEXT NOT NULL,
            source TEXT NOT NULL,
            plan TEXT NOT NULL,
            segment_count INTEGER NOT NULL,
            failure TEXT,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE segments (
            job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            lease INTEGER,
            node TEXT,
            slot INTEGER,
            incarnation INTEGER,
            spool_file TEXT,
            bytes INTEGER,
            hash TEXT,
            frames INTEGER,
            encode_seconds REAL,
            detail TEXT,
            failure TEXT,
            PRIMARY KEY (job, number),
            CHECK ((lease IS NULL) = (failure IS NOT NULL))
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX segments_lease ON segments (lease);
        CREATE TABLE leases (
            lease INTEGER NOT NULL PRIMARY KEY,
            job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
            segment INTEGER NOT NULL,
            node TEXT NOT NULL,
            slot INTEGER NOT NULL,
            incarnation INTEGER NOT NULL,
            state TEXT NOT NULL,
            failure TEXT,
            frames INTEGER NOT NULL,
            granted INTEGER NOT NULL,
            ended INTEGER
        ) STRICT;
        CREATE INDEX leases_job ON leases (job, segment);
        CREATE TABLE workers (
            node TEXT NOT NULL,
            slot INTEGER NOT NULL,
            incarnation INTEGER NOT NULL,
            last_seen INTEGER NOT NULL,
            detail TEXT NOT NULL,
            PRIMARY KEY (node, slot)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE events (
            sequence INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            time INTEGER NOT NULL,
            job TEXT,
            kind TEXT NOT NULL,
            detail TEXT NOT NULL
        ) STRICT;
        CREATE INDEX events_job ON events (job, sequence);
        CREATE TABLE source_indexes (
            fingerprint TEXT NOT NULL PRIMARY KEY,
            used INTEGER NOT NULL,
            detail TEXT NOT NULL
        ) STRICT;
        CREATE INDEX source_indexes_used ON source_indexes (used);
        CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        """)
}

extension JobStore {
    /// "WEFT" in the file's application id tells our stores from other people's databases.
    private static let applicationID: Int64 = 0x5745_4654

    func prepare(_ migrations: [Migration]) throws(JobStoreError) {
        let context = "opening the job store"
        // The coordinator is alone with its store: the lock is held as long as the connection lives, the kernel drops it
        // with the process however that ends, and a second coordinator is told "busy". It also keeps the WAL index out
        // of shared memory, which network file systems lack.
        try database.run("PRAGMA locking_mode = EXCLUSIVE", context: context)
        try database.run("PRAGMA journal_mode = WAL", context: context)
        // FULL: a commit returns when the WAL is on the disk. With NORMAL a power cut may undo the last commits, and two
        // of ours promise something to others: a slot throws its bytes away once a segment is accepted, and a lease
        // number that was handed out must never be handed out again. A commit per segment or batch is few fsyncs.
        try database.run("PRAGMA synchronous = FULL", context: context)
        try database.run("PRAGMA foreign_keys = ON", context: context)
        try database.run("PRAGMA trusted_schema = OFF", context: context)
        try database.run("PRAGMA cell_size_check = ON", context: context)
        try check(context)
        try database.transaction("bringing the job store up to date") { () throws(JobStoreError) in
            try migrate(migrations)
        }
    }

    /// Damage is better found when the coordinator starts than in the middle of a job.
    private func check(_ context: String) throws(JobStoreError) {
        var finding = "ok"
        try database.run("PRAGMA quick_check(1)", context: context) { row in finding = row.text(0) }
        guard finding == "ok" else { throw JobStoreError(.corrupt, finding, context: context) }
    }

    private func migrate(_ migrations: [Migration]) throws(JobStoreError) {
        let context = "bringing the job store up to date"
        let version = try number("PRAGMA user_version", context)
        let tables = try number("SELECT count(*) FROM sqlite_schema", context)
        let owner = try number("PRAGMA application_id", context)
        guard owner == Self.applicationID || (tables == 0 && owner == 0 && version == 0) else {
            throw JobStoreError(.foreign, "the file is another program's database", context: context)
        }
        guard version <= migrations.count else {
            let message = "it has schema \(version), this version of weft knows up to \(migrations.count)"
            throw JobStoreError(.tooNew, message, context: context)
        }
        guard version >= 0, version < migrations.count else { return }
        for migration in migrations[Int(version)...] { try database.script(migration.sql, context: context) }
        // Pragmas take no parameters; both are part of the transaction.
        try database.script("PRAGMA application_id = \(Self.applicationID)", context: context)
        try database.script("PRAGMA user_version = \(migrations.count)", context: context)
    }

    private func number(_ sql: String, _ context: String) throws(JobStoreError) -> Int64 {
        var number: Int64 = 0
        try database.run(sql, context: context) { row in number = row.integer(0) }
        return number
    }
}
