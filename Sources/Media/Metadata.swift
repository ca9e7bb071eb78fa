internal import CFFmpeg

/// Tags in the order of the file. Keys are compared without regard to case, as libavformat does.
public struct Metadata: Sendable, Hashable, Codable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
    /// One tag. A key may occur more than once.
    public struct Entry: Sendable, Hashable, Codable {
        public var key: String
        public var value: String

        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    public private(set) var entries: [Entry] = []

    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        for (key, value) in elements { self[key] = value }
    }

    init(_ dictionary: OpaquePointer?) {
        var entry: UnsafeMutablePointer<AVDictionaryEntry>?
        while true {
            entry = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX)
            guard let pair = entry?.pointee else { break }
            entries.append(Entry(key: String(cString: pair.key), value: String(cString: pair.value)))
        }
    }

    /// The first value of a key, whatever its case; setting `nil` removes it.
    public subscript(key: String) -> String? {
        get { entries.first { Self.same($0.key, key) }?.value }
        set {
            let index = entries.firstIndex { Self.same($0.key, key) }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Without the entries of `keys`.
    public func removing(_ keys: Set<String>) -> Metadata {
        var copy = self
        copy.entries.removeAll { entry in keys.contains { Self.same($0, entry.key) } }
        return copy
    }

    private static func same(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }

    public var startIndex: Int { entries.startIndex }
    public var endIndex: Int { entries.endIndex }
    public subscript(position: Int) -> Entry { entries[position] }

    /// Appends every entry to a libav dictionary, keeping the order and repeated keys.
    func copy(into dictionary: inout OpaquePointer?) throws(MediaError) {
        for entry in entries {
            try check(
                av_dict_set(&dictionary, entry.key, entry.value, AV_DICT_MULTIKEY), .resources, "No memory for tags.")
        }
    }
}
