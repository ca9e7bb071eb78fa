internal import CSQLite

/// One SQLite connection with its prepared statements. Confined to its owner: not Sendable, and compiled statements never
/// leave it.
final class Database {
    private let connection: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    private var depth = 0

    init(path: String, busyTimeout: Int32) throws(JobStoreError) {
        // SQLite takes these two for databases that live in memory or in a temporary file, which keeps nothing.
        guard !path.isEmpty, path != ":memory:" else {
            throw JobStoreError(.cannotOpen, "\"\(path)\" is not the path of a file", context: "opening the job store")
        }
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
            // A connection comes back even from a failed open, and has to be closed (sqlite.org/c3ref/open.html).
            sqlite3_close_v2(opened)
            throw JobStoreError(
                JobStoreError.kind(ofCode: code), code: code, message, context: "opening the job store \(path)")
        }
        self.connection = opened
        sqlite3_busy_timeout(opened, busyTimeout)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(connection)
    }

    /// Runs statements that take and return nothing, such as a migration.
    func script(_ sql: String, context: String) throws(JobStoreError) {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, context) }
    }

    /// Runs one statement and hands each row to `row`.
    /// - Returns: how many rows it changed.
    @discardableResult
    func run(
        _ sql: String, _ values: [Value] = [], context: String, row: (Row) throws(JobStoreError) -> Void = { _ in }
    ) throws(JobStoreError) -> Int {
        let statement = try prepared(sql, context)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            let code = value.bind(to: statement, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw error(code, context) }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try row(Row(statement: statement, context: context))
            case SQLITE_DONE: return Int(sqlite3_changes(connection))
            case let code: throw error(code, context)
            }
        }
    }

    /// Runs `body` in a transaction; inside another one it is part of that. `IMMEDIATE` takes the write lock at the start,
    /// where waiting for it is possible: a read that turns into a write later fails at once instead.
    @discardableResult
    func transaction<Result>(
        _ context: String, _ body: () throws(JobStoreError) -> Result
    ) throws(JobStoreError) -> Result {
        guard depth == 0 else { return try body() }
        try run("BEGIN IMMEDIATE", context: context)
        depth += 1
        defer { depth -= 1 }
        do {
            let result = try body()
            try run("COMMIT", context: context)
            return result
        } catch {
            // SQLite has rolled back by itself after some errors (full disk, I/O); then there is nothing to undo.
            if sqlite3_get_autocommit(connection) == 0 { sqlite3_exec(connection, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    private func prepared(_ sql: String, _ context: String) throws(JobStoreError) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code, context) }
        statements[sql] = statement
        return statement
    }

    private func error(_ code: Int32, _ context: String) -> JobStoreError {
        JobStoreError(
            JobStoreError.kind(ofCode: code), code: code, String(cString: sqlite3_errmsg(connection)), context: context)
    }
}

/// What can be bound to a parameter.
enum Value {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)

    init(_ value: Int) { self = .integer(Int64(value)) }
    /// SQLite has no unsigned integers: the bits are kept. Leases are counted and stay far below 2⁶³, so they also sort.
    init(_ value: UInt64) { self = .integer(Int64(bitPattern: value)) }
    init(_ value: Int64?) { self = value.map(Value.integer) ?? .null }
    init(_ value: String?) { self = value.map(Value.text) ?? .null }

    fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let value): sqlite3_bind_int64(statement, index, value)
        case .real(let value): sqlite3_bind_double(statement, index, value)
        case .text(var value):
            value.withUTF8 { bytes in
                // An empty buffer has no address, and SQLite takes a null pointer for NULL.
                guard let start = bytes.baseAddress else {
                    return sqlite3_bind_text(statement, index, "", 0, weft_sqlite_transient())
                }
                return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) { text in
                    sqlite3_bind_text64(
                        statement, index, text, sqlite3_uint64(bytes.count), weft_sqlite_transient(), UInt8(SQLITE_UTF8)
                    )
                }
            }
        }
    }
}

/// The current row of a running statement; valid only inside the closure that it is handed to.
struct Row {
    fileprivate let statement: OpaquePointer
    let context: String

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func unsigned(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }

    func int(_ column: Int32) -> Int { Int(integer(column)) }

    func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

    /// The empty text for NULL.
    func text(_ column: Int32) -> String {
        guard let bytes = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// A stored word of an enumeration of ours.
    func word<Word: RawRepresentable<String>>(_ column: Int32, as type: Word.Type) throws(JobStoreError) -> Word {
        guard let word = Word(rawValue: text(column)) else {
            throw JobStoreError(.malformed, "\"\(text(column))\" is not a \(Word.self)", context: context)
        }
        return word
    }
}
