package import ClusterProtocol
package import Scheduling

extension JobStore {
    /// Remembers grants, so that a slot can come back with its lease after a restart. A batch is one fsync.
    package func recordLeases(_ leases: [LeaseRecord]) throws(JobStoreError) {
        let context = "recording leases"
        try database.transaction(context) { () throws(JobStoreError) in
            for lease in leases { try insert(lease, context) }
        }
    }

    /// Ends a lease; one that has ended, or that is unknown, stays as it is.
    package func endLease(
        _ lease: LeaseID, as state: AttemptState, failure: Failure? = nil, frames: Int = 0, at time: Int64
    ) throws(JobStoreError) {
        let context = "ending \(lease)"
        let failure = try failure.map { failure throws(JobStoreError) in try JSONText(failure).text }
        try database.transaction(context) { () throws(JobStoreError) in
            try database.run(
                """
                UPDATE leases SET state = ?2, failure = ?3, frames = max(frames, ?4), ended = ?5
                WHERE lease = ?1 AND ended IS NULL
                """,
                [Value(lease.number), .text(state.rawValue), Value(failure), Value(frames), .integer(time)],
                context: context)
        }
    }

    /// A finished lease's result was found to be wrong.
    package func disproveLease(_ lease: LeaseID, _ failure: Failure) throws(JobStoreError) {
        let text = try JSONText(failure).text
        try database.run(
            "UPDATE leases SET state = ?2, failure = ?3 WHERE lease = ?1",
            [Value(lease.number), .text(AttemptState.failed.rawValue), .text(text)], context: "disproving \(lease)")
    }

    /// The job's attempts, in the order of their grants.
    package func leases(of job: JobID, openOnly: Bool = false) throws(JobStoreError) -> [LeaseRecord] {
        var leases: [LeaseRecord] = []
        let sql = """
            SELECT lease, job, segment, node, slot, incarnation, state, failure, frames, granted, ended FROM leases
            WHERE job = ?1 AND (?2 = 0 OR ended IS NULL) ORDER BY lease
            """
        let values: [Value] = [.text(job.text), Value(openOnly ? 1 : 0)]
        try database.run(sql, values, context: "reading leases of job \(job)") { row throws(JobStoreError) in
            leases.append(try LeaseRecord(row))
        }
        return leases
    }

    private func insert(_ lease: LeaseRecord, _ context: String) throws(JobStoreError) {
        let failure = try lease.failure.map { failure throws(JobStoreError) in try JSONText(failure).text }
        try database.run(
            """
            INSERT INTO leases (lease, job, segment, node, slot, incarnation, state, failure, frames, granted, ended)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """,
            [
                Value(lease.lease.number), .text(lease.job.text), Value(lease.segment), .text(lease.worker.node),
                Value(lease.worker.slot), Value(lease.worker.incarnation), .text(lease.state.rawValue),
                Value(failure), Value(lease.frames), .integer(lease.granted), Value(lease.ended),
            ], context: context)
    }
}

extension LeaseRecord {
    fileprivate init(_ row: Row) throws(JobStoreError) {
        self.init(
            lease: LeaseID(row.unsigned(0)), job: JobID(row.text(1)), segment: row.int(2),
            worker: WorkerID(node: row.text(3), slot: row.int(4), incarnation: row.unsigned(5)),
            state: try row.word(6, as: AttemptState.self), failure: try row.failure(7), frames: row.int(8),
            granted: row.integer(9), ended: row.optionalInteger(10))
    }
}
