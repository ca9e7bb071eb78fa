extension JobStore {
    /// Remembers a slot; a later record of the same slot takes its place.
    package func recordWorker(_ worker: WorkerRecord) throws(JobStoreError) {
        let context = "recording worker \(worker.node)/\(worker.slot)"
        try database.transaction(context) { () throws(JobStoreError) in
            try database.run(
                """
                INSERT OR REPLACE INTO workers (node, slot, incarnation, last_seen, detail) VALUES (?1, ?2, ?3, ?4, ?5)
                """,
                [
                    .text(worker.node), Value(worker.slot), Value(worker.incarnation), .integer(worker.lastSeen),
                    .text(worker.detail.text),
                ], context: context)
        }
    }

    /// By node and slot.
    package func workers() throws(JobStoreError) -> [WorkerRecord] {
        var workers: [WorkerRecord] = []
        let sql = "SELECT node, slot, incarnation, last_seen, detail FROM workers ORDER BY node, slot"
        try database.run(sql, context: "listing workers") { row in
            workers.append(
                WorkerRecord(
                    node: row.text(0), slot: row.int(1), incarnation: row.unsigned(2), lastSeen: row.integer(3),
                    detail: JSONText(text: row.text(4))))
        }
        return workers
    }

    /// Forgets slots that were last seen before `time`.
    package func forgetWorkers(before time: Int64) throws(JobStoreError) {
        let context = "forgetting workers"
        try database.transaction(context) { () throws(JobStoreError) in
            try database.run("DELETE FROM workers WHERE last_seen < ?1", [.integer(time)], context: context)
        }
    }
}
