package import Scheduling

extension JobStore {
    /// Adds to the log and drops what is beyond its limit.
    package func appendEvent(
        _ kind: String, job: JobID? = nil, detail: JSONText, at time: Int64
    ) throws(JobStoreError) {
        let context = "writing the event log"
        try database.transaction(context) { () throws(JobStoreError) in
            try database.run(
                "INSERT INTO events (time, job, kind, detail) VALUES (?1, ?2, ?3, ?4)",
                [.integer(time), Value(job?.text), .text(kind), .text(detail.text)], context: context)
            let sql = "DELETE FROM events WHERE sequence <= (SELECT max(sequence) FROM events) - ?1"
            try database.run(sql, [Value(eventLimit)], context: context)
        }
    }

    /// Events after `sequence`, oldest first; `job` limits them to one job's.
    package func events(
        of job: JobID? = nil, after sequence: Int64 = 0, limit: Int = 1000
    ) throws(JobStoreError) -> [EventRecord] {
        var events: [EventRecord] = []
        let filter = job == nil ? "sequence > ?1" : "job = ?3 AND sequence > ?1"
        let sql = "SELECT sequence, time, job, kind, detail FROM events WHERE \(filter) ORDER BY sequence LIMIT ?2"
        var values: [Value] = [.integer(sequence), Value(max(limit, 0))]
        if let job { values.append(.text(job.text)) }
        try database.run(sql, values, context: "reading the event log") { row in
            events.append(
                EventRecord(
                    sequence: row.integer(0), time: row.integer(1), job: row.optionalText(2).map(JobID.init),
                    kind: row.text(3), detail: JSONText(text: row.text(4))))
        }
        return events
    }
}
