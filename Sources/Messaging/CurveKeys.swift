internal import CZeroMQ

/// A CURVE public key: 32 bytes, written as 40 characters of Z85 (ZeroMQ RFC 32).
package struct CurvePublicKey: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// - Returns: `nil` unless `text` is Z85 of 32 bytes.
    package init?(_ text: String) {
        guard let bytes = Z85.decode(text) else { return nil }
        self.bytes = bytes
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == Z85.keyBytes else { return nil }
        self.bytes = bytes
    }

    package var text: String { Z85.encode(bytes) }
    package var description: String { text }
}

/// A CURVE key pair. Its secret half is never printed by accident: only `secretText` shows it.
package struct CurveKeyPair: Hashable, Sendable, CustomStringConvertible {
    package let publicKey: CurvePublicKey
    let secret: [UInt8]

    /// - Returns: `nil` unless `secret` is Z85 of 32 bytes. The public key follows from it.
    package init?(secretText secret: String) {
        guard let bytes = Z85.decode(secret) else { return nil }
        var text = [CChar](repeating: 0, count: Z85.keyCharacters + 1)
        guard zmq_curve_public(&text, secret) == 0, let publicKey = CurvePublicKey(Z85.string(text)) else { return nil }
        self.publicKey = publicKey
        self.secret = bytes
    }

    /// A new pair from the system's random numbers.
    /// - Throws: when libzmq was built without CURVE.
    package static func generate() throws(MessagingError) -> CurveKeyPair {
        var publicText = [CChar](repeating: 0, count: Z85.keyCharacters + 1)
        var secretText = publicText
        try check("generate a key pair") { zmq_curve_keypair(&publicText, &secretText) }
        guard let pair = CurveKeyPair(secretText: Z85.string(secretText)) else {
            throw MessagingError(.invalid, "generate a key pair")
        }
        return pair
    }

    /// For the key file.
    package var secretText: String { Z85.encode(secret) }
    package var description: String { "CurveKeyPair(\(publicKey))" }
}

/// ZeroMQ RFC 32, for keys.
private enum Z85 {
    static let keyBytes = 32
    static let keyCharacters = 40

    static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count == keyCharacters, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        var bytes = [UInt8](repeating: 0, count: keyBytes)
        guard zmq_z85_decode(&bytes, text) != nil else { return nil }
        // libzmq takes some characters outside the alphabet for others: only the canonical text names a key.
        return encode(bytes) == text ? bytes : nil
    }

    static func encode(_ bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: keyCharacters + 1)
        _ = zmq_z85_encode(&text, bytes, bytes.count)
        return string(text)
    }

    static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix(while: { $0 != 0 }).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
