/// A job's name for its whole life, also across restarts of the coordinator.
package struct JobID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    package var text: String

    package init(_ text: String) {
        self.text = text
    }

    package init(from decoder: any Decoder) throws {
        self.text = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    package var description: String { text }

    package static func < (a: JobID, b: JobID) -> Bool { a.text < b.text }
}

/// One try of one segment on one slot. Strictly increasing and never used twice, also after a restart: whoever holds an
/// older lease of a segment is fenced off by its number.
package struct LeaseID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    package var number: UInt64

    package init(_ number: UInt64) {
        self.number = number
    }

    package init(from decoder: any Decoder) throws {
        self.number = try decoder.singleValueContainer().decode(UInt64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    package var description: String { "lease \(number)" }

    package static func < (a: LeaseID, b: LeaseID) -> Bool { a.number < b.number }
}

/// A slot process: where it runs, and which of the processes that ran there. Every new process of a slot takes a higher
/// incarnation, so that a message of a dead one is told from a message of its successor.
package struct WorkerID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    package var node: String
    package var slot: Int
    package var incarnation: UInt64

    package init(node: String, slot: Int, incarnation: UInt64 = 0) {
        self.node = node
        self.slot = slot
        self.incarnation = incarnation
    }

    package var description: String { "\(node)/\(slot)#\(incarnation)" }

    package static func < (a: WorkerID, b: WorkerID) -> Bool {
        (a.node, a.slot, a.incarnation) < (b.node, b.slot, b.incarnation)
    }
}
