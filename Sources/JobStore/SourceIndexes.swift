package import ClusterProtocol

extension JobStore {
    /// Keyframe indexes kept; the one that was not used for the longest time goes first.
    package static let sourceIndexLimit = 256

    /// The index that was stored for a source of this fingerprint; now the most recently used one.
    package func sourceIndex(
        for fingerprint: SourceReference.Fingerprint, at time: Int64
    ) throws(JobStoreError) -> JSONText? {
        let context = "reading a stored keyframe index"
        return try database.transaction(context) { () throws(JobStoreError) in
            var index: JSONText?
            try database.run(
                "UPDATE source_indexes SET used = ?2 WHERE fingerprint = ?1 RETURNING detail",
                [.text(Self.key(fingerprint)), .integer(time)], context: context
            ) { row in index = JSONText(text: row.text(0)) }
            return index
        }
    }

    package func storeSourceIndex(
        _ index: JSONText, for fingerprint: SourceReference.Fingerprint, at time: Int64
    ) throws(JobStoreError) {
        let context = "storing a keyframe index"
        try database.transaction(context) { () throws(JobStoreError) in
            try database.run(
                "INSERT OR REPLACE INTO source_indexes (fingerprint, used, detail) VALUES (?1, ?2, ?3)",
                [.text(Self.key(fingerprint)), .integer(time), .text(index.text)], context: context)
            try database.run(
                """
                DELETE FROM source_indexes WHERE fingerprint IN
                (SELECT fingerprint FROM source_indexes ORDER BY used DESC, fingerprint LIMIT -1 OFFSET ?1)
                """, [Value(Self.sourceIndexLimit)], context: context)
        }
    }

    // The modification time is part of the key here, unlike between machines: an index must never outlive its file.
    private static func key(_ fingerprint: SourceReference.Fingerprint) -> String {
        "\(fingerprint.size)-\(fingerprint.modified)-\(fingerprint.hash)"
    }
}
