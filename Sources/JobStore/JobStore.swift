/// The coordinator's durable memory: jobs, segments, leases, workers, events and the keyframe indexes of sources.
///
/// One connection, used from one thread at a time: sqlite3_step and the fsync of a commit block, so that thread is never
/// one of the cooperative pool. Every function is one transaction (or part of the surrounding `transaction`): it has
/// happened durably when it returns, and not at all when it throws. Times are milliseconds since 1970, UTC, given by the
/// caller.
package final class JobStore {
    let database: Database
    let eventLimit: Int

    /// Opens the store, creates it where there is none, and brings an older one up to date.
    ///
    /// - Parameters:
    ///   - path: a file in a directory that exists. SQLite keeps a `-wal` file beside it.
    ///   - busyTimeout: milliseconds to wait for another process. A store belongs to one process; a second one gets
    ///     `.busy`.
    ///   - eventLimit: events kept; older ones go as new ones come.
    /// - Throws: `.busy`, `.notADatabase`, `.corrupt`, `.foreign`, `.tooNew`, `.cannotOpen`, `.readOnly`.
    package init(
        at path: String, busyTimeout: Int32 = 2000, eventLimit: Int = 100_000, migrations: [Migration] = Migration.all
    ) throws(JobStoreError) {
        self.database = try Database(path: path, busyTimeout: busyTimeout)
        self.eventLimit = max(eventLimit, 1)
        try prepare(migrations)
    }

    /// Makes everything that `body` does one transaction, with one fsync.
    @discardableResult
    package func transaction<Result>(
        _ body: () throws(JobStoreError) -> Result
    ) throws(JobStoreError) -> Result {
        try database.transaction("writing several things at once", body)
    }

    /// Reserves `count` lease numbers. They are on the disk as used before this returns, so that after any crash the next
    /// reservation starts above every lease that was ever granted. Unused numbers of a block are lost; there are 2⁶³.
    package func reserveLeases(_ count: Int) throws(JobStoreError) -> Range<UInt64> {
        let context = "reserving lease numbers"
        let reserved = UInt64(max(count, 1))
        return try database.transaction(context) { () throws(JobStoreError) in
            var end: UInt64 = 0
            try database.run(
                """
                INSERT INTO counters (name, value) VALUES ('lease', 1 + ?1)
                ON CONFLICT (name) DO UPDATE SET value = value + ?1 RETURNING value
                """, [Value(reserved)], context: context
            ) { row in end = row.unsigned(0) }
            guard end > reserved else {
                throw JobStoreError(.malformed, "the lease counter is out of range", context: context)
            }
            return end - reserved..<end
        }
    }
}
