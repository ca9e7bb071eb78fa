/// The name of one try of one segment on one slot. It never repeats: `fence` rises with every lease that a coordinator's
/// store ever gave, restarts included, so a late message of an old lease can never pass for one of a new lease.
///
/// On the wire it is one string, `job:fence`, which a slot echoes and does not interpret.
package struct LeaseName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 1 to 64 of the characters A–Z a–z 0–9 _ and -.
    package let job: String
    package let fence: UInt64

    /// - Parameter job: must be `isValidJob`.
    package init(job: String, fence: UInt64) {
        self.job = job
        self.fence = fence
    }

    /// - Returns: `nil` unless `text` is what `description` gives for some lease.
    package init?(_ text: String) {
        guard text.utf8.count <= 96, let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let job = String(text[..<colon])
        let digits = text[text.utf8.index(after: colon)...]
        guard LeaseName.isValidJob(job), let fence = UInt64(digits), String(fence) == digits else { return nil }
        self.init(job: job, fence: fence)
    }

    /// Job names appear in paths and on command lines, so their alphabet is small.
    package static func isValidJob(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    package var description: String { "\(job):\(fence)" }

    package static func < (left: LeaseName, right: LeaseName) -> Bool {
        (left.fence, left.job) < (right.fence, right.job)
    }
}

extension LeaseName: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let lease = LeaseName(text) else { throw ProtocolError.malformed("A lease id is not job:fence.") }
        self = lease
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
