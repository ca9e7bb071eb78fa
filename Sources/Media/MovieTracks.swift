/// What a movie's track headers say and FFmpeg 5.1 does not pass on: the clean aperture (ISO/IEC 14496-12 §12.1.4) and the extended
/// language tag (§8.4.6), by the track's id.
///
/// Walks moov, trak, mdia, minf, stbl, stsd to the first sample entry and nothing beside. (GPAC, the library in C that Debian has for
/// movies, reads every sample table of a file before it answers, and from local files only.)
struct MovieTracks {
    private let file: HeaderBytes
    /// Boxes that are looked at in the whole file: a fragmented one has two for every fragment before its end.
    private var boxesLeft = 20_000
    private(set) var croppings: [Int32: PictureCropping] = [:]
    /// BCP 47.
    private(set) var languages: [Int32: String] = [:]

    private struct Box {
        var type: String
        var body: Range<Int64>
    }

    init(_ file: HeaderBytes) throws(MediaError) {
        self.file = file
        guard let moov = try first("moov", in: 0..<file.end) else { return }
        for trak in try children(of: moov, stop: nil) where trak.type == "trak" {
            guard let header = try first("tkhd", in: trak.body),
                let version = try file.number(at: header.lowerBound, bytes: 1),
                let number = try file.number(at: header.lowerBound + (version == 1 ? 20 : 12), bytes: 4)
            else { continue }
            let id = Int32(truncatingIfNeeded: number)
            croppings[id] = try cropping(of: trak.body)
            languages[id] = try language(of: trak.body)
        }
    }

    private mutating func language(of trak: Range<Int64>) throws(MediaError) -> String? {
        guard let media = try first("mdia", in: trak), let tag = try first("elng", in: media), tag.count > 4,
            let bytes = try file.bytes(at: tag.lowerBound + 4, count: min(LanguageTag.limit, tag.count - 4))
        else { return nil }
        return LanguageTag.text(bytes)
    }

    private mutating func cropping(of trak: Range<Int64>) throws(MediaError) -> PictureCropping? {
        var place = trak
        for type in ["mdia", "minf", "stbl", "stsd"] {
            guard let next = try first(type, in: place) else { return nil }
            place = next
        }
        // A full box with the number of entries: version, flags, count.
        guard place.count > 8, let entry = try children(of: (place.lowerBound + 8)..<place.upperBound, stop: 1).first,
            entry.body.count > Self.visualEntryLength,
            let width = try file.number(at: entry.body.lowerBound + 24, bytes: 2),
            let height = try file.number(at: entry.body.lowerBound + 26, bytes: 2),
            let clap = try first(
                "clap", in: (entry.body.lowerBound + Self.visualEntryLength)..<entry.body.upperBound),
            let bytes = try file.bytes(at: clap.lowerBound, count: 32), clap.count >= 32
        else { return nil }
        return Self.cropping(bytes, width: Int(width), height: Int(height))
    }

    /// Of a VisualSampleEntry's own fields, ISO/IEC 14496-12 §12.1.3.
    private static let visualEntryLength: Int64 = 78

    /// Four fractions: width, height and the centre's offset from the picture's. An edge within a pixel is rounded as FFmpeg 7.1 does:
    /// the first pixel and the last are those that the edges of the aperture's first and last pixel begin in.
    static func cropping(_ clap: [UInt8], width: Int, height: Int) -> PictureCropping? {
        guard width > 0, height > 0 else { return nil }
        func edges(_ extent: Int, sizeAt size: Int, offsetAt offset: Int) -> (first: Int, last: Int)? {
            guard let sizeOver = MovieBoxes.number(clap, at: size, bytes: 4),
                let sizeUnder = MovieBoxes.number(clap, at: size + 4, bytes: 4),
                let offsetOver = MovieBoxes.number(clap, at: offset, bytes: 4),
                let offsetUnder = MovieBoxes.number(clap, at: offset + 4, bytes: 4), sizeOver > 0, sizeUnder > 0,
                offsetUnder > 0
            else { return nil }
            let (a, b) = (Int128(sizeOver), Int128(sizeUnder))
            let (c, d) = (Int128(Int32(truncatingIfNeeded: offsetOver)), Int128(offsetUnder))
            // first = (extent - 1)/2 + c/d - (a/b - 1)/2, last = first + a/b - 1; at most 98 bits, over 2bd.
            let first = Int128(extent) * b * d + 2 * c * b - a * d
            let last = first + 2 * a * d - 2 * b * d
            let under = 2 * b * d
            guard first > -under, last >= 0, last / under < Int128(extent) else { return nil }
            return (Int(first / under), Int(last / under))
        }
        guard let columns = edges(width, sizeAt: 0, offsetAt: 16), let rows = edges(height, sizeAt: 8, offsetAt: 24)
        else { return nil }
        return PictureCropping(
            width: width, height: height, top: rows.first, bottom: height - 1 - rows.last, left: columns.first,
            right: width - 1 - columns.last)
    }

    // MARK: Boxes

    private mutating func first(_ type: String, in range: Range<Int64>) throws(MediaError) -> Range<Int64>? {
        var found: Range<Int64>?
        try walk(range) { box in
            if box.type == type { found = box.body }
            return found == nil
        }
        return found
    }

    private mutating func children(of range: Range<Int64>, stop: Int?) throws(MediaError) -> [Box] {
        var boxes: [Box] = []
        try walk(range) { box in
            boxes.append(box)
            return boxes.count < stop ?? .max
        }
        return boxes
    }

    /// - Parameter take: says whether to go on.
    private mutating func walk(_ range: Range<Int64>, _ take: (Box) -> Bool) throws(MediaError) {
        var offset = range.lowerBound
        while range.upperBound - offset >= 8, boxesLeft > 0 {
            boxesLeft -= 1
            guard let head = try file.bytes(at: offset, count: 8), let short = MovieBoxes.number(head, at: 0, bytes: 4)
            else { return }
            var length = Int64(short)
            var headLength: Int64 = 8
            if short == 1 {
                guard let long = try file.number(at: offset + 8, bytes: 8) else { return }
                (length, headLength) = (Int64(clamping: long), 16)
            } else if short == 0 {
                length = range.upperBound - offset
            }
            guard length >= headLength, length <= range.upperBound - offset else { return }
            let type = String(decoding: head[4..<8], as: UTF8.self)
            guard take(Box(type: type, body: (offset + headLength)..<(offset + length))) else { return }
            offset += length
        }
    }
}
