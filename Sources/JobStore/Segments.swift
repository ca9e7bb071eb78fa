package import ClusterProtocol
package import Scheduling

extension JobStore {
    /// The segment's bytes are in the spool, fsynced, and now count: from here on the segment is never encoded again. The
    /// lease ends with it.
    ///
    /// - Returns: the spool file that this one takes the place of, if there was one (a rerun).
    /// - Throws: `.missing` where the job has no such segment, `.exists` where the lease was accepted before.
    @discardableResult
    package func acceptSegment(
        _ segment: AcceptedSegment, of job: JobID, at time: Int64
    ) throws(JobStoreError) -> String? {
        let context = "accepting segment \(segment.index) of job \(job)"
        return try database.transaction(context) { () throws(JobStoreError) in
            let replaced = try spoolFile(of: segment.index, job, context)
            if let accepted = try segmentAccepted(under: segment.lease, context) {
                throw JobStoreError(.exists, "\(segment.lease) was accepted for segment \(accepted)", context: context)
            }
            try insert(segment, job, context)
            try endLease(segment.lease, as: .finished, frames: segment.frames, at: time)
            return replaced == segment.spoolFile ? nil : replaced
        }
    }

    /// The segment failed for good (until a retry).
    package func failSegment(
        _ index: Int, of job: JobID, _ failure: Failure
    ) throws(JobStoreError) {
        let context = "failing segment \(index) of job \(job)"
        let text = try JSONText(failure).text
        let changed = try database.transaction(context) { () throws(JobStoreError) in
            try database.run(
                """
                INSERT OR REPLACE INTO segments (job, number, failure)
                SELECT id, ?2, ?3 FROM jobs WHERE id = ?1 AND ?2 >= 0 AND ?2 < segment_count
                """, [.text(job.text), Value(index), .text(text)], context: context)
        }
        guard changed > 0 else { throw JobStoreError(.missing, "there is no such segment", context: context) }
    }

    /// Makes segments pending again.
    /// - Returns: the spool files of those that were finished; the caller removes them after this.
    @discardableResult
    package func reopenSegments(_ indices: [Int], of job: JobID) throws(JobStoreError) -> [String] {
        let context = "reopening segments of job \(job)"
        return try database.transaction(context) { () throws(JobStoreError) in
            var files: [String] = []
            for index in indices {
                if let file = try spoolFile(of: index, job, context) { files.append(file) }
                let sql = "DELETE FROM segments WHERE job = ?1 AND number = ?2"
                try database.run(sql, [.text(job.text), Value(index)], context: context)
            }
            return files
        }
    }

    /// What the owner notes of a finished segment, as long as it is this lease's.
    package func noteSegment(
        _ index: Int, of job: JobID, lease: LeaseID, detail: JSONText
    ) throws(JobStoreError) {
        try database.run(
            "UPDATE segments SET detail = ?4 WHERE job = ?1 AND number = ?2 AND lease = ?3",
            [.text(job.text), Value(index), Value(lease.number), .text(detail.text)],
            context: "noting segment \(index) of job \(job)")
    }

    /// The job's finished segments stay finished, but their bytes are gone. The spool files are the caller's to remove, after
    /// this: a file without a row is clean-up, a row without its file is a loss.
    /// - Returns: how many segments held bytes.
    @discardableResult
    package func cleanSegments(of job: JobID) throws(JobStoreError) -> Int {
        let context = "cleaning the spool of job \(job)"
        return try database.transaction(context) { () throws(JobStoreError) in
            try database.run(
                "UPDATE segments SET spool_file = NULL, bytes = NULL WHERE job = ?1 AND spool_file IS NOT NULL",
                [.text(job.text)], context: context)
        }
    }

    /// Every segment of the job, in order, pending ones included.
    /// - Throws: `.missing` where there is no such job.
    package func segments(of job: JobID) throws(JobStoreError) -> [SegmentRecord] {
        guard let record = try self.job(job) else {
            throw JobStoreError(.missing, "there is no job \(job)", context: "reading segments")
        }
        var segments = (0..<max(record.segmentCount, 0)).map(SegmentRecord.pending(index:))
        try forEachSegment(of: job) { segment in
            if segments.indices.contains(segment.index) { segments[segment.index] = segment }
        }
        return segments
    }

    /// What the scheduler has to know to go on with the job.
    package func progress(of job: JobID) throws(JobStoreError) -> JobProgress {
        guard let record = try self.job(job) else {
            throw JobStoreError(.missing, "there is no job \(job)", context: "reading a job's progress")
        }
        var progress = JobProgress(state: record.state)
        try forEachSegment(of: job) { segment in
            switch segment {
            case .pending: break
            case .finished(let accepted): progress.finished[accepted.index] = accepted.hash
            case .failed(let index, let failure): progress.failed[index] = failure
            }
        }
        progress.openLeases = try leases(of: job, openOnly: true).map {
            JobProgress.OpenLease(lease: $0.lease, worker: $0.worker, segment: $0.segment)
        }
        return progress
    }

    private func forEachSegment(
        of job: JobID, _ body: (SegmentRecord) throws(JobStoreError) -> Void
    ) throws(JobStoreError) {
        try database.run(
            "\(Self.selectSegment) WHERE job = ?1 ORDER BY number", [.text(job.text)],
            context: "reading segments of job \(job)"
        ) { row throws(JobStoreError) in try body(try SegmentRecord(row)) }
    }

    /// One segment, pending where the store has nothing about it.
    package func segment(_ index: Int, of job: JobID) throws(JobStoreError) -> SegmentRecord {
        var segment = SegmentRecord.pending(index: index)
        try database.run(
            "\(Self.selectSegment) WHERE job = ?1 AND number = ?2", [.text(job.text), Value(index)],
            context: "reading segment \(index) of job \(job)"
        ) { row throws(JobStoreError) in segment = try SegmentRecord(row) }
        return segment
    }

    private static let selectSegment = """
        SELECT number, lease, node, slot, incarnation, spool_file, bytes, hash, frames, encode_seconds, detail, failure
        FROM segments
        """

    private func spoolFile(of index: Int, _ job: JobID, _ context: String) throws(JobStoreError) -> String? {
        var file: String?
        let sql = "SELECT spool_file FROM segments WHERE job = ?1 AND number = ?2"
        try database.run(sql, [.text(job.text), Value(index)], context: context) { row in file = row.optionalText(0) }
        return file
    }

    private func segmentAccepted(under lease: LeaseID, _ context: String) throws(JobStoreError) -> Int? {
        var index: Int?
        let sql = "SELECT number FROM segments WHERE lease = ?1"
        try database.run(sql, [Value(lease.number)], context: context) { row in index = row.int(0) }
        return index
    }

    private func insert(_ segment: AcceptedSegment, _ job: JobID, _ context: String) throws(JobStoreError) {
        let changed = try database.run(
            """
            INSERT OR REPLACE INTO segments (job, number, lease, node, slot, incarnation, spool_file, bytes, hash,
                frames, encode_seconds, detail)
            SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM jobs
            WHERE id = ?1 AND ?2 >= 0 AND ?2 < segment_count
            """,
            [
                .text(job.text), Value(segment.index), Value(segment.lease.number), .text(segment.worker.node),
                Value(segment.worker.slot), Value(segment.worker.incarnation), .text(segment.spoolFile),
                .integer(segment.bytes), .text(segment.hash), Value(segment.frames), .real(segment.encodeSeconds),
                Value(segment.detail?.text),
            ], context: context)
        guard changed > 0 else { throw JobStoreError(.missing, "there is no such segment", context: context) }
    }
}

extension SegmentRecord {
    fileprivate init(_ row: Row) throws(JobStoreError) {
        let index = row.int(0)
        if let failure = try row.failure(11) {
            self = .failed(index: index, failure)
            return
        }
        var accepted = AcceptedSegment(
            index: index, lease: LeaseID(row.unsigned(1)),
            worker: WorkerID(node: row.text(2), slot: row.int(3), incarnation: row.unsigned(4)),
            spoolFile: row.text(5), bytes: row.integer(6), hash: row.text(7), frames: row.int(8),
            encodeSeconds: row.real(9), detail: row.optionalText(10).map(JSONText.init(text:)))
        accepted.isCleaned = row.isNull(5)
        self = .finished(accepted)
    }
}
