internal import MediaTime

/// What Matroska's track headers say and FFmpeg 5.1 does not pass on (RFC 9559 §5.1.4, RFC 8794).
///
/// Walks the segment to its tracks and nothing beside. (Debian's libebml and libmatroska would do it, but in C++, which
/// Swift reaches through a layer larger than this walk.)
struct MatroskaTracks {
    private let file: HeaderBytes
    private var elementsLeft = 20_000
    /// In the order of the file.
    private(set) var entries: [Entry] = []

    struct Entry {
        /// 1 for pictures, 2 for sound, 17 for subtitles.
        var kind: UInt64
        var cropping: PictureCropping?
        /// BCP 47; `nil` where only ISO 639-2 is told.
        var language: String?
    }

    private struct Element {
        var id: UInt64
        var body: Range<Int64>
    }

    private enum ID {
        static let ebml: UInt64 = 0x1A45_DFA3
        static let segment: UInt64 = 0x1853_8067
        static let seekHead: UInt64 = 0x114D_9B74
        static let seek: UInt64 = 0x4DBB
        static let seekID: UInt64 = 0x53AB
        static let seekPosition: UInt64 = 0x53AC
        static let tracks: UInt64 = 0x1654_AE6B
        static let cluster: UInt64 = 0x1F43_B675
        static let entry: UInt64 = 0xAE
        static let type: UInt64 = 0x83
        static let language: UInt64 = 0x22B59D
        static let video: UInt64 = 0xE0
        static let width: UInt64 = 0xB0
        static let height: UInt64 = 0xBA
        static let cropBottom: UInt64 = 0x54AA
        static let cropTop: UInt64 = 0x54BB
        static let cropLeft: UInt64 = 0x54CC
        static let cropRight: UInt64 = 0x54DD
        static let displayWidth: UInt64 = 0x54B0
        static let displayHeight: UInt64 = 0x54BA
        static let displayUnit: UInt64 = 0x54B2
    }

    init(_ file: HeaderBytes) throws(MediaError) {
        self.file = file
        guard let head = try element(at: 0, in: 0..<file.end), head.id == ID.ebml,
            let segment = try element(at: head.body.upperBound, in: 0..<file.end), segment.id == ID.segment
        else { return }
        guard let tracks = try tracks(of: segment.body) else { return }
        try walk(tracks) { (reader, entry) throws(MediaError) in
            if entry.id == ID.entry { try reader.add(entry.body) }
            return true
        }
    }

    /// They may lie behind the clusters, where the seek head says so.
    private mutating func tracks(of segment: Range<Int64>) throws(MediaError) -> Range<Int64>? {
        var found: Range<Int64>?
        var told: Int64?
        try walk(segment) { (reader, element) throws(MediaError) in
            switch element.id {
            case ID.tracks: found = element.body
            case ID.seekHead: told = try reader.placeOfTracks(element.body) ?? told
            default: break
            }
            return found == nil && element.id != ID.cluster
        }
        if let found { return found }
        guard let told, told >= 0, told < segment.upperBound - segment.lowerBound,
            let element = try element(at: segment.lowerBound + told, in: segment), element.id == ID.tracks
        else { return nil }
        return element.body
    }

    /// From the segment's first byte.
    private mutating func placeOfTracks(_ head: Range<Int64>) throws(MediaError) -> Int64? {
        var place: Int64?
        try walk(head) { (reader, seek) throws(MediaError) in
            guard seek.id == ID.seek else { return true }
            let numbers = try reader.numbers(in: seek.body)
            if numbers[ID.seekID] == ID.tracks { place = numbers[ID.seekPosition].map { Int64(clamping: $0) } }
            return place == nil
        }
        return place
    }

    private mutating func add(_ body: Range<Int64>) throws(MediaError) {
        var entry = Entry(kind: 0)
        try walk(body) { (reader, element) throws(MediaError) in
            switch element.id {
            case ID.type: entry.kind = try reader.number(element.body) ?? 0
            case ID.video: entry.cropping = Self.cropping(try reader.numbers(in: element.body))
            case ID.language where element.body.count <= LanguageTag.limit:
                let bytes = try reader.file.bytes(at: element.body.lowerBound, count: element.body.count)
                entry.language = bytes.flatMap { LanguageTag.text($0) }
            default: break
            }
            return true
        }
        entries.append(entry)
    }

    private static func cropping(_ video: [UInt64: UInt64]) -> PictureCropping? {
        func pixels(_ id: UInt64) -> Int { Int(clamping: video[id] ?? 0) }
        let (width, height) = (pixels(ID.width), pixels(ID.height))
        guard
            var cropping = PictureCropping(
                width: width, height: height, top: pixels(ID.cropTop), bottom: pixels(ID.cropBottom),
                left: pixels(ID.cropLeft), right: pixels(ID.cropRight))
        else { return nil }
        // The display size is that of what is left, and is its size in pixels where it is not written. FFmpeg 5.1 takes it for that
        // of the whole picture.
        let left = cropping.wanted
        let (across, down) = (video[ID.displayWidth], video[ID.displayHeight])
        guard video[ID.displayUnit] ?? 0 < 4, across != nil || down != nil, across != 0, down != 0 else {
            return cropping
        }
        let wide = Int64(clamping: across ?? UInt64(left.width)), high = Int64(clamping: down ?? UInt64(left.height))
        guard wide < 1 << 24, high < 1 << 24 else { return cropping }
        cropping.sampleAspectRatio = Rational(reducing: wide * Int64(left.height), high * Int64(left.width))
        return cropping
    }

    // MARK: Elements

    /// Every number of up to eight bytes among the children; the last of a kind counts.
    private mutating func numbers(in range: Range<Int64>) throws(MediaError) -> [UInt64: UInt64] {
        var numbers: [UInt64: UInt64] = [:]
        try walk(range) { (reader, element) throws(MediaError) in
            numbers[element.id] = try reader.number(element.body)
            return true
        }
        return numbers
    }

    private func number(_ body: Range<Int64>) throws(MediaError) -> UInt64? {
        guard body.count <= 8 else { return nil }
        return try file.number(at: body.lowerBound, bytes: body.count)
    }

    /// - Parameter take: says whether to go on.
    private mutating func walk(
        _ range: Range<Int64>, _ take: (inout MatroskaTracks, Element) throws(MediaError) -> Bool
    ) throws(MediaError) {
        var offset = range.lowerBound
        while offset < range.upperBound, elementsLeft > 0, let element = try element(at: offset, in: range) {
            elementsLeft -= 1
            guard try take(&self, element) else { return }
            offset = element.body.upperBound
        }
    }

    /// One that was cut off, or whose size was not known when its header was written, reaches to the end of what holds it.
    private func element(at offset: Int64, in range: Range<Int64>) throws(MediaError) -> Element? {
        guard let (id, sizeAt) = try variable(at: offset, limit: 4, keepsMarker: true), let id,
            let (size, bodyAt) = try variable(at: sizeAt, limit: 8, keepsMarker: false), bodyAt <= range.upperBound
        else { return nil }
        let left = range.upperBound - bodyAt
        let length = min(left, size.map { Int64(clamping: $0) } ?? left)
        return Element(id: id, body: bodyAt..<(bodyAt + length))
    }

    /// - Returns: `value` is `nil` where all its bits are ones: unknown.
    private func variable(
        at offset: Int64, limit: Int, keepsMarker: Bool
    ) throws(MediaError) -> (value: UInt64?, next: Int64)? {
        guard let first = try file.number(at: offset, bytes: 1), first != 0 else { return nil }
        let width = UInt8(first).leadingZeroBitCount + 1
        guard width <= limit, let coded = try file.number(at: offset, bytes: width) else { return nil }
        let mask = (UInt64(1) << UInt64(7 * width)) - 1
        let value = coded & mask
        return (value == mask ? nil : keepsMarker ? coded : value, offset + Int64(width))
    }
}
