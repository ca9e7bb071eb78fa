/// A language as BCP 47 writes it, `pt-BR`, out of a file's header.
enum LanguageTag {
    /// Longer is no language (RFC 5646 §4.4.1 asks for room for 35).
    static let limit = 64

    /// - Parameter bytes: up to the first zero.
    /// - Returns: `nil` for what cannot be a tag.
    static func text(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        let isTag = text.utf8.allSatisfy { byte in
            byte == 0x2D || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
        }
        return text.isEmpty || text.utf8.count >= limit || !isTag ? nil : text
    }
}
