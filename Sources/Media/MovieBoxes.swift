internal import Foundation
internal import MediaTime

/// The few boxes of an ISO base media file that libavformat reads but does not pass on: edit lists, and whether it is fragmented.
///
/// Reads box headers and the boxes asked for, never the sample tables (ISO/IEC 14496-12 §4.2, §8.6.6, §8.8.1).
struct MovieBoxes {
    private(set) var isFragmented = false
    private var movieTimescale: Int32 = 0
    private var tracks: [Int32: TrackBoxes] = [:]

    private struct TrackBoxes {
        var id: Int32 = 0
        var timescale: Int32 = 0
        var edits: [Edit] = []
    }

    private struct Edit {
        var duration: Int64
        var mediaTime: Int64
        var rate: Int32
    }

    /// A movie whose index is not there: it ends before it, or the index was never written.
    static func isUnfinished(fileAt path: String) -> Bool {
        guard !Demuxer.isURL(path), let file = BoxFile(path: path) else { return false }
        let boxes = file.children(of: 0..<file.size)
        return ["ftyp", "mdat", "wide"].contains(boxes.first?.type) && !boxes.contains { $0.type == "moov" }
    }

    /// - Returns: `nil` for anything but a readable local file with a `moov`.
    init?(ofFileAt path: String) {
        guard !Demuxer.isURL(path), let file = BoxFile(path: path) else { return nil }
        guard let moov = file.children(of: 0..<file.size).first(where: { $0.type == "moov" }) else { return nil }
        for box in file.children(of: moov.body) {
            switch box.type {
            case "mvex": isFragmented = true
            case "mvhd": movieTimescale = Self.timescale(file.bytes(of: box, limit: 32), longAt: 20, shortAt: 12)
            case "trak":
                let track = Self.track(box, in: file)
                tracks[track.id] = track
            default: break
            }
        }
    }

    /// The edit list of a track in order, with where each entry starts; empty for none.
    func segments(ofTrack id: Int32) -> [TrackSegment] {
        guard let track = tracks[id], let movie = TimeBase(numerator: 1, denominator: movieTimescale),
            let media = TimeBase(numerator: 1, denominator: track.timescale)
        else { return [] }
        var start: Int64 = 0
        var segments: [TrackSegment] = []
        for edit in track.edits {
            segments.append(
                TrackSegment(
                    movieTimeBase: movie, mediaTimeBase: media, targetStart: start, duration: edit.duration,
                    mediaStart: edit.mediaTime == -1 ? nil : edit.mediaTime, rate: edit.rate))
            let (next, overflow) = start.addingReportingOverflow(edit.duration)
            guard !overflow else { break }
            start = next
        }
        return segments
    }

    private static func track(_ trak: BoxFile.Box, in file: BoxFile) -> TrackBoxes {
        var result = TrackBoxes()
        for box in file.children(of: trak.body) {
            switch box.type {
            case "tkhd": result.id = timescale(file.bytes(of: box, limit: 32), longAt: 20, shortAt: 12)
            case "edts":
                for list in file.children(of: box.body) where list.type == "elst" {
                    result.edits = edits(file.bytes(of: list, limit: 1 << 20))
                }
            case "mdia":
                for header in file.children(of: box.body) where header.type == "mdhd" {
                    result.timescale = timescale(file.bytes(of: header, limit: 32), longAt: 20, shortAt: 12)
                }
            default: break
            }
        }
        return result
    }

    /// `mvhd`, `mdhd` and `tkhd` all put the number asked for behind two times of 32 bits (version 0) or 64 bits (version 1).
    private static func timescale(_ body: [UInt8], longAt long: Int, shortAt short: Int) -> Int32 {
        guard let version = body.first else { return 0 }
        return Int32(truncatingIfNeeded: number(body, at: version == 1 ? long : short, bytes: 4) ?? 0)
    }

    private static func edits(_ body: [UInt8]) -> [Edit] {
        guard let version = body.first, let count = number(body, at: 4, bytes: 4) else { return [] }
        let width = version == 1 ? 8 : 4
        let stride = 2 * width + 4
        let held = max(0, body.count - 8) / stride
        return (0..<min(Int(count), held)).compactMap { index in
            let offset = 8 + index * stride
            guard let duration = number(body, at: offset, bytes: width),
                let time = number(body, at: offset + width, bytes: width),
                let rate = number(body, at: offset + 2 * width, bytes: 4)
            else { return nil }
            let signed = width == 8 ? Int64(bitPattern: time) : Int64(Int32(truncatingIfNeeded: time))
            return Edit(
                duration: Int64(clamping: duration), mediaTime: signed, rate: Int32(truncatingIfNeeded: rate))
        }
    }

    static func number(_ bytes: [UInt8], at offset: Int, bytes width: Int) -> UInt64? {
        guard offset >= 0, offset + width <= bytes.count else { return nil }
        return bytes[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Where a Matroska segment says that it ends: the only way to tell a cut-off file (RFC 9559 §5.1, RFC 8794 §6).
enum MatroskaSegment {
    static func end(ofFileAt path: String) -> Int64? {
        guard !Demuxer.isURL(path), let file = BoxFile(path: path) else { return nil }
        let head = file.bytes(at: 0, count: 4096)
        guard let ebml = element(head, at: 0), ebml.id == 0x1A45_DFA3, let headerSize = ebml.size,
            let segment = element(head, at: ebml.body + Int(clamping: headerSize)), segment.id == 0x1853_8067,
            let size = segment.size
        else { return nil }
        return Int64(segment.body).addingReportingOverflow(size).partialValue
    }

    private static func element(_ bytes: [UInt8], at offset: Int) -> (id: UInt64, size: Int64?, body: Int)? {
        guard offset >= 0, offset < bytes.count, bytes[offset] != 0 else { return nil }
        let idWidth = bytes[offset].leadingZeroBitCount + 1
        guard let id = MovieBoxes.number(bytes, at: offset, bytes: idWidth) else { return nil }
        let sizeAt = offset + idWidth
        guard sizeAt < bytes.count, bytes[sizeAt] != 0 else { return nil }
        let sizeWidth = bytes[sizeAt].leadingZeroBitCount + 1
        guard let coded = MovieBoxes.number(bytes, at: sizeAt, bytes: sizeWidth) else { return nil }
        let mask = (UInt64(1) << (7 * sizeWidth)) - 1
        // All ones: the size was not known when the header was written.
        let size = coded & mask == mask ? nil : Int64(clamping: coded & mask)
        return (id, size, sizeAt + sizeWidth)
    }
}
