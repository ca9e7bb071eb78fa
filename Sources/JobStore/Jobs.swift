package import ClusterProtocol
package import Scheduling

extension JobStore {
    /// - Throws: `.exists` where the id is taken.
    package func createJob(_ job: JobRecord) throws(JobStoreError) {
        let context = "creating job \(job.id)"
        let failure = try job.failure.map { failure throws(JobStoreError) in try JSONText(failure).text }
        try database.transaction(context) { () throws(JobStoreError) in
            try database.run(
                """
                INSERT INTO jobs (id, state, priority, destination, settings, source, plan, segment_count, failure,
                    created, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                """,
                [
                    .text(job.id.text), .text(job.state.rawValue), Value(job.priority), .text(job.destination),
                    .text(job.settings.text), .text(job.source.text), .text(job.plan.text), Value(job.segmentCount),
                    Value(failure), .integer(job.created), .integer(job.updated),
                ], context: context)
        }
    }

    /// - Parameter failure: replaces the one that is stored, `nil` removes it.
    /// - Throws: `.missing` where there is no such job.
    package func updateJob(
        _ id: JobID, state: JobState, failure: Failure? = nil, at time: Int64
    ) throws(JobStoreError) {
        let context = "updating job \(id)"
        let failure = try failure.map { failure throws(JobStoreError) in try JSONText(failure).text }
        try change(
            id, "UPDATE jobs SET state = ?2, failure = ?3, updated = ?4 WHERE id = ?1",
            [.text(id.text), .text(state.rawValue), Value(failure), .integer(time)], context)
    }

    package func updateJob(_ id: JobID, priority: Int, at time: Int64) throws(JobStoreError) {
        try change(
            id, "UPDATE jobs SET priority = ?2, updated = ?3 WHERE id = ?1",
            [.text(id.text), Value(priority), .integer(time)], "updating job \(id)")
    }

    /// Other settings for a rerun.
    package func updateJob(_ id: JobID, settings: JSONText, at time: Int64) throws(JobStoreError) {
        try change(
            id, "UPDATE jobs SET settings = ?2, updated = ?3 WHERE id = ?1",
            [.text(id.text), .text(settings.text), .integer(time)], "updating job \(id)")
    }

    /// What planning found; a job is created before it is planned.
    package func updateJob(
        _ id: JobID, source: JSONText, plan: JSONText, segmentCount: Int, at time: Int64
    ) throws(JobStoreError) {
        try change(
            id, "UPDATE jobs SET source = ?2, plan = ?3, segment_count = ?4, updated = ?5 WHERE id = ?1",
            [.text(id.text), .text(source.text), .text(plan.text), Value(segmentCount), .integer(time)],
            "updating job \(id)")
    }

    /// The account of the job.
    package func updateJob(_ id: JobID, report: JSONText?, at time: Int64) throws(JobStoreError) {
        try change(
            id, "UPDATE jobs SET report = ?2, updated = ?3 WHERE id = ?1",
            [.text(id.text), Value(report?.text), .integer(time)], "updating job \(id)")
    }

    /// In the order of their creation.
    package func jobs() throws(JobStoreError) -> [JobRecord] {
        var jobs: [JobRecord] = []
        let sql = "\(Self.selectJob) ORDER BY created, id"
        try database.run(sql, context: "listing jobs") { row throws(JobStoreError) in jobs.append(try JobRecord(row)) }
        return jobs
    }

    package func job(_ id: JobID) throws(JobStoreError) -> JobRecord? {
        var job: JobRecord?
        try database.run("\(Self.selectJob) WHERE id = ?1", [.text(id.text)], context: "reading job \(id)") {
            row throws(JobStoreError) in job = try JobRecord(row)
        }
        return job
    }

    /// What each job with accepted segments holds in the spool.
    package func spools() throws(JobStoreError) -> [JobID: SpoolUse] {
        var uses: [JobID: SpoolUse] = [:]
        let sql = """
            SELECT job, sum(bytes), count(*) - count(spool_file) FROM segments WHERE lease IS NOT NULL GROUP BY job
            """
        try database.run(sql, context: "adding up the spool") { row in
            uses[JobID(row.text(0))] = SpoolUse(bytes: row.integer(1), cleaned: row.int(2))
        }
        return uses
    }

    /// Removes the job with its segments and leases; its events stay. The spool files are the caller's to remove, after
    /// this: a file without a row is clean-up, a row without its file is a loss.
    /// - Throws: `.missing` where there is no such job.
    package func deleteJob(_ id: JobID) throws(JobStoreError) {
        try change(id, "DELETE FROM jobs WHERE id = ?1", [.text(id.text)], "deleting job \(id)")
    }

    func change(_ id: JobID, _ sql: String, _ values: [Value], _ context: String) throws(JobStoreError) {
        let changed = try database.transaction(context) { () throws(JobStoreError) in
            try database.run(sql, values, context: context)
        }
        guard changed > 0 else { throw JobStoreError(.missing, "there is no job \(id)", context: context) }
    }

    private static let selectJob = """
        SELECT id, state, priority, destination, settings, source, plan, segment_count, failure, created, updated,
        report FROM jobs
        """
}

extension JobRecord {
    fileprivate init(_ row: Row) throws(JobStoreError) {
        self.init(
            id: JobID(row.text(0)), state: try row.word(1, as: JobState.self), priority: row.int(2),
            destination: row.text(3), settings: JSONText(text: row.text(4)), source: JSONText(text: row.text(5)),
            plan: JSONText(text: row.text(6)), segmentCount: row.int(7), failure: try row.failure(8),
            created: row.integer(9))
        self.updated = row.integer(10)
        self.report = row.optionalText(11).map(JSONText.init(text:))
    }
}

extension Row {
    func failure(_ column: Int32) throws(JobStoreError) -> Failure? {
        guard let text = optionalText(column) else { return nil }
        return try JSONText(text: text).decoded(as: Failure.self)
    }
}
