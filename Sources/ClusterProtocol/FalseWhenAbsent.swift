/// A flag whose key may be missing on the way in: peers of before it existed have none.
@propertyWrapper
package struct FalseWhenAbsent: Hashable, Sendable, Codable {
    package var wrappedValue: Bool

    package init(wrappedValue: Bool) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws { wrappedValue = try Bool(from: decoder) }

    package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension KeyedDecodingContainer {
    package func decode(_ type: FalseWhenAbsent.Type, forKey key: Key) throws -> FalseWhenAbsent {
        try decodeIfPresent(type, forKey: key) ?? FalseWhenAbsent(wrappedValue: false)
    }
}
