import Foundation

/// A message that a real coordinator, worker or client sent: a line of `Tests/Captured/messages.jsonl`.
package struct CapturedMessage: Sendable {
    package enum Frame: Sendable {
        /// What is parsed: a format description, a sample table.
        case parsed([UInt8])
        /// A run of sample bytes, of which only the size was kept.
        case samples(Int)

        package var count: Int {
            switch self {
            case .parsed(let bytes): bytes.count
            case .samples(let count): count
            }
        }
    }

    /// To the coordinator.
    package var isUp: Bool
    package var header: [UInt8]
    package var payload: [Frame]

    package static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Captured/messages.jsonl").path

    private struct Line: Decodable {
        var up: Bool
        var header: String
        var payload: [Part]

        enum Part: Decodable {
            case size(Int)
            case text(Data)

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let size = try? container.decode(Int.self) {
                    self = .size(size)
                } else {
                    self = .text(try container.decode(Data.self))
                }
            }
        }
    }

    package static func all(path: String = path) throws -> [CapturedMessage] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { text in
            let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
            return CapturedMessage(
                isUp: line.up, header: Array(line.header.utf8),
                payload: line.payload.map { part in
                    switch part {
                    case .size(let size): .samples(size)
                    case .text(let data): .parsed(Array(data))
                    }
                })
        }
    }
}
