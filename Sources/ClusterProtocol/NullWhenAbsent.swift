/// An optional whose key is always in the JSON, as `null` when there is no value: a promised field of a report must be there
/// for whoever reads it. On the way in the key may be missing.
@propertyWrapper
package struct NullWhenAbsent<Value: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension KeyedDecodingContainer {
    package func decode<Value>(
        _ type: NullWhenAbsent<Value>.Type, forKey key: Key
    ) throws -> NullWhenAbsent<Value> {
        try decodeIfPresent(type, forKey: key) ?? NullWhenAbsent(wrappedValue: nil)
    }
}
