package import ClusterProtocol
internal import CSQLite

/// What went wrong in the job store: one open set of kinds over SQLite's result codes, with what was being done.
package struct JobStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Another process holds the store and did not let go within the busy time-out.
        case busy
        /// The file is not a database, or damaged.
        case notADatabase, corrupt
        /// A database, but not a job store of ours, or one that a newer version wrote.
        case foreign, tooNew
        case diskFull, readOnly, cannotOpen, inputOutput, outOfMemory
        /// A row that has to be there is not, or is there already.
        case missing, exists
        /// A stored value does not have the form that was written.
        case malformed
        case other
    }

    package var kind: Kind
    /// SQLite's extended result code; 0 where SQLite is not the one that complains.
    package var code: Int32
    /// SQLite's own words, or ours.
    package var message: String
    /// What was being done.
    package var context: String

    package init(_ kind: Kind, code: Int32 = 0, _ message: String, context: String) {
        self.kind = kind
        self.code = code
        self.message = message
        self.context = context
    }

    /// The same call can succeed later, with nothing changed by this one.
    package var isRetriable: Bool { kind == .busy || kind == .diskFull || kind == .outOfMemory }

    /// Nothing more can be done with this store.
    package var isFatal: Bool {
        switch kind {
        case .notADatabase, .corrupt, .foreign, .tooNew, .readOnly, .cannotOpen, .inputOutput: true
        case .busy, .diskFull, .outOfMemory, .missing, .exists, .malformed, .other: false
        }
    }

    package var description: String { "\(context): \(message)" + (code == 0 ? "" : " (SQLite \(code))") }

    package var failure: Failure {
        Failure(
            .storage, "The job store failed while \(context): \(message).", advice: advice,
            retry: isRetriable ? .retry : .giveUp, fault: .environment, code: code, exitCode: exitCode)
    }

    private var advice: String {
        switch kind {
        case .busy: "Stop the other coordinator that uses this state directory, or give this one another with --state."
        case .notADatabase, .foreign: "Point --state at a directory of weft's own."
        case .corrupt: "Move the job store aside and start again, or restore a copy; spool files stay untouched."
        case .tooNew: "Use the version of weft that wrote this state, or another state directory."
        case .diskFull: "Free space where the state directory lies; work goes on by itself."
        case .readOnly, .cannotOpen: "Check that the state directory exists and that this user may write to it."
        case .inputOutput: "Check the disk that holds the state directory."
        case .outOfMemory: "Free memory and try again."
        case .missing, .exists: "Look at the list of jobs: this one was removed or added meanwhile."
        case .malformed, .other: "Please report this with the message above."
        }
    }

    private var exitCode: ExitCode {
        switch kind {
        case .busy, .diskFull, .outOfMemory: .temporary
        case .readOnly, .cannotOpen: .cannotCreate
        default: .ioError
        }
    }
}

extension JobStoreError {
    static func kind(ofCode code: Int32) -> Kind {
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_NOTADB: .notADatabase
        case SQLITE_CORRUPT: .corrupt
        case SQLITE_FULL: .diskFull
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
        case SQLITE_CANTOPEN: .cannotOpen
        case SQLITE_IOERR: .inputOutput
        case SQLITE_NOMEM: .outOfMemory
        case SQLITE_CONSTRAINT where code == foreignKeyConstraint: .missing
        case SQLITE_CONSTRAINT: .exists
        default: .other
        }
    }

    // Swift does not import the extended codes: they are macros computed from other macros.
    private static var foreignKeyConstraint: Int32 { SQLITE_CONSTRAINT | (3 << 8) }
}
