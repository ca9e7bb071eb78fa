internal import ClusterProtocol
internal import Foundation

/// One JSON document: sorted keys in snake_case, so that equal results are equal text.
enum JSONOutput {
    static func document(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try encoder.encode(value) + Data("\n".utf8)
    }

    static func print(_ value: some Encodable) throws {
        try StandardStream.output.write(document(value))
    }

    /// One line of a stream of documents.
    static func line(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ((try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}") + "\n"
    }

    /// Refuses a report's path before the work, not after it.
    static func check(_ path: String) throws(Failure) {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard access(directory, W_OK) != 0 else { return }
        let code = errno
        throw Failure(
            .storage, "The report \(path) cannot be created: \(String(cString: strerror(code))).",
            advice: "Name a directory that is there and that you may write to.", fault: .settings, code: code,
            exitCode: .cannotCreate)
    }

    /// Writes a document to a file under a temporary name first, so that a reader never sees half of one.
    static func write(_ value: some Encodable, to path: String) throws {
        try document(value).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
