/// A list whose key may be missing on the way in: peers and stored reports of before it existed have none.
@propertyWrapper
package struct EmptyWhenAbsent<Element: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    package var wrappedValue: [Element]

    package init(wrappedValue: [Element]) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws { wrappedValue = try [Element](from: decoder) }

    package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension KeyedDecodingContainer {
    package func decode<Element>(
        _ type: EmptyWhenAbsent<Element>.Type, forKey key: Key
    ) throws -> EmptyWhenAbsent<Element> {
        try decodeIfPresent(type, forKey: key) ?? EmptyWhenAbsent(wrappedValue: [])
    }
}
