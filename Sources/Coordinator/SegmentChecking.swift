internal import ClusterProtocol
internal import SegmentPlan

/// How closely a cluster's coordinator looks at what a slot returned before the segment counts.
package enum SegmentChecking: String, Codable, Sendable, CaseIterable {
    /// Not at all: a slot with bad memory, or one that lies, gets its bytes into the output.
    case none
    /// The samples are decoded: each gives its picture, at its time, without an error.
    case decode
    /// And each picture is held against the one that the encoder was given.
    case compare
    /// The segment is encoded once more on the coordinator's machine, and must be the same byte for byte.
    case encode
}

/// What a checking process is asked, one line of JSON.
struct CheckRequest: Codable, Sendable {
    var job: String
    var segment: Segment
    var recipe: EncodeRecipe
    var source: SourceReference
    /// The job's spool, and the hash of the segment's file in it.
    var directory: String
    var hash: String
    var level: SegmentChecking
    /// What the slots of the job make of the reference frames with its own recipe: whether this machine encodes like them.
    var provenRecipe: EncodeRecipe
    var fingerprint: String?
    /// Seconds without progress after which the process is taken for hung.
    var stallSeconds: Double
}

/// What it answers.
struct CheckVerdict: Codable, Sendable {
    enum Finding: String, Codable, Sendable {
        case passed
        /// Encoded once more on this machine, which encodes like the slots, it is other bytes.
        case disproved
        /// Something speaks against it, and this machine cannot tell for certain.
        case doubtful
        /// The spool does not hold what it should.
        case unreadable
        /// It cannot be checked here.
        case unable
    }

    var finding: Finding
    /// One sentence where it did not just pass.
    var reason = ""
    /// Processor seconds.
    var seconds = 0.0
    /// It took an encode to tell.
    var wasEncoded = false
}
