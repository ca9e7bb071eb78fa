internal import Foundation

/// The fields of one message type. `type` is its name in the envelope.
package protocol MessageBody: Hashable, Sendable, Codable {
    static var type: String { get }
    /// Refuses values outside `ProtocolLimits`, and payload frames that do not belong to this message.
    /// - Parameter payload: bytes of each payload frame.
    func check(payload: [Int]) throws(ProtocolError)
}

/// All messages of one direction.
package protocol WireMessage: Hashable, Sendable {
    var body: any MessageBody { get }
    /// - Returns: `nil` when no message of this direction is called `type`.
    init?(type: String, from decoder: any Decoder) throws
}

/// The envelope: a multipart message of one JSON header frame, `{"weft":1,"type":"progress",…fields}`, and the payload
/// frames that the type calls for. Fields that this version does not know are ignored; another version or an unknown
/// type is refused with a reason.
///
/// The codec sees payload frames only by their size, so sample data is never copied through it.
package enum MessageCodec {
    /// The header frame of `message`.
    /// - Parameter payload: bytes of each payload frame that will follow.
    /// - Throws: when the peer would refuse it.
    package static func encode(_ message: some WireMessage, payload: [Int] = []) throws(ProtocolError) -> [UInt8] {
        let body = message.body
        try body.check(payload: payload)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header: Data
        do {
            header = try encoder.encode(Outgoing(body: body))
        } catch let error as ProtocolError {
            throw error
        } catch {
            throw .malformed("The message has no JSON form: \(error).")
        }
        guard header.count <= ProtocolLimits.headerBytes else {
            throw .limit("The header has \(header.count) bytes; at most \(ProtocolLimits.headerBytes) are allowed.")
        }
        return Array(header)
    }

    /// - Parameters:
    ///   - header: the first frame.
    ///   - payload: bytes of each frame after it.
    package static func decode<Message: WireMessage>(
        _ type: Message.Type = Message.self, header: UnsafeRawBufferPointer, payload: [Int]
    ) throws(ProtocolError) -> Message {
        guard header.count <= ProtocolLimits.headerBytes else {
            throw .limit("The header has \(header.count) bytes; at most \(ProtocolLimits.headerBytes) are allowed.")
        }
        guard let address = header.baseAddress, header.count > 0 else { throw .malformed("The header is empty.") }
        try Bounds.count(payload.count, "payload", atMost: ProtocolLimits.payloadFrames)
        let incoming: Incoming<Message>
        do {
            let data = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: address), count: header.count, deallocator: .none)
            incoming = try JSONDecoder().decode(Incoming<Message>.self, from: data)
        } catch let error as ProtocolError {
            throw error
        } catch let error as DecodingError {
            throw .malformed(describe(error))
        } catch {
            throw .malformed("The header cannot be read.")
        }
        try incoming.message.body.check(payload: payload)
        return incoming.message
    }

    /// The whole multipart message as byte arrays.
    package static func decode<Message: WireMessage>(
        _ type: Message.Type = Message.self, frames: [[UInt8]]
    ) throws(ProtocolError) -> Message {
        guard let header = frames.first else { throw .malformed("The message has no frames.") }
        let payload = frames.dropFirst().map(\.count)
        return try header.span.withUnsafeBytes { (bytes) throws(ProtocolError) in
            try decode(type, header: bytes, payload: payload)
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            let keys = context.codingPath.prefix(8) + (last.map { [$0] } ?? [])
            return keys.map { String($0.stringValue.prefix(64)) }.joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context): return "The field \(path(context, key)) is missing."
        case .typeMismatch(_, let context): return "The field \(path(context)) is of the wrong kind."
        case .valueNotFound(_, let context): return "The field \(path(context)) is null."
        case .dataCorrupted(let context):
            let place = path(context)
            return place.isEmpty ? "The header is not JSON." : "The field \(place) has no acceptable value."
        @unknown default: return "The header cannot be read."
        }
    }
}

private enum EnvelopeKey: String, CodingKey { case weft, type }

private struct Outgoing: Encodable {
    let body: any MessageBody

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: EnvelopeKey.self)
        try container.encode(ProtocolLimits.version, forKey: .weft)
        try container.encode(Swift.type(of: body).type, forKey: .type)
        try body.encode(to: encoder)
    }
}

private struct Incoming<Message: WireMessage>: Decodable {
    let message: Message

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: EnvelopeKey.self)
        let version = try container.decode(Int.self, forKey: .weft)
        guard version == ProtocolLimits.version else {
            throw ProtocolError(
                .version(version),
                "The peer speaks protocol version \(version); this build speaks \(ProtocolLimits.version).")
        }
        let type = try container.decode(String.self, forKey: .type)
        try Bounds.name(type, "type")
        guard let message = try Message(type: type, from: decoder) else {
            throw ProtocolError(.unknownType(type), "No message here has the type \(type).")
        }
        self.message = message
    }
}

/// Payload rules that several messages share.
enum PayloadShape {
    static func none(_ payload: [Int], _ type: String) throws(ProtocolError) {
        guard payload.isEmpty else { throw .malformed("\(type) carries no payload, but has \(payload.count) frames.") }
    }

    static func chunk(_ bytes: Int, _ field: StaticString) throws(ProtocolError) {
        guard bytes <= ProtocolLimits.chunkBytes else {
            throw .limit("\(field) has \(bytes) bytes; at most \(ProtocolLimits.chunkBytes) are allowed.")
        }
    }

    /// A sample table cut into frames.
    static func table(_ payload: ArraySlice<Int>) throws(ProtocolError) {
        var total = 0
        for bytes in payload {
            try chunk(bytes, "The sample table frame")
            total += bytes
        }
        guard total <= ProtocolLimits.tableBytes else {
            throw .limit("The sample table has \(total) bytes; at most \(ProtocolLimits.tableBytes) are allowed.")
        }
    }
}

extension MessageBody {
    package func check(payload: [Int]) throws(ProtocolError) { try PayloadShape.none(payload, Self.type) }
}
