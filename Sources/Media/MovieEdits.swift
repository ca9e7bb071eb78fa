internal import Foundation
package import MediaTime

/// Rewrites the edit list of one track of a finished movie in place, with its index at the head of the file and free space
/// behind it.
///
/// libavformat's muxer writes an empty edit for a track that starts late, or cuts a track's priming, never both: late sound
/// would be heard with its priming, and that much too early (ISO/IEC 14496-12 §8.6.6).
package enum MovieEdits {
    package struct Edit: Sendable {
        /// Units of the movie's timescale.
        package var duration: Int64
        /// Units of the track's timescale; -1 for an empty edit.
        package var mediaTime: Int64

        package init(duration: Int64, mediaTime: Int64) {
            self.duration = duration
            self.mediaTime = mediaTime
        }
    }

    /// Moves the start of a track's sound by its priming: `[wait, -1] [length, 0]` becomes
    /// `[wait + priming, -1] [length - priming, priming]`.
    ///
    /// - Parameters:
    ///   - track: number of the track in the file, from 0.
    ///   - priming: samples, in the track's timescale.
    /// - Throws: `.finalization` where the track has no such edit list; the file is then unchanged.
    package static func cutPriming(ofTrack track: Int, _ priming: Int64, inFileAt path: String) throws(MediaError) {
        try change(path) { (file) throws in try cut(track, priming, file) }
    }

    /// Clears the flag that has a track shown unless somebody chooses another (ISO/IEC 14496-12 §8.3.2, Track_enabled).
    package static func disable(track: Int, inFileAt path: String) throws(MediaError) {
        try change(path, "track's header") { (file) throws in
            let size = Int(clamping: try file.seekToEnd())
            guard let moov = try child("moov", in: 0..<size, file),
                let trak = try children(in: moov, file).filter({ $0.type == "trak" }).dropFirst(track).first?.body,
                let header = try child("tkhd", in: trak, file)
            else { throw unsuited }
            var bytes = try read(header.lowerBound..<(header.lowerBound + 4), file)
            guard bytes.count == 4 else { throw unsuited }
            bytes[3] &= 0xFE
            try file.seek(toOffset: UInt64(header.lowerBound))
            try file.write(contentsOf: Data(bytes))
        }
    }

    /// Ends the presentation of a track before its media does: `[length, start]` becomes `[shorter, start]`.
    ///
    /// - Parameter end: on the movie's time line.
    package static func end(track: Int, at end: MediaTime, inFileAt path: String) throws(MediaError) {
        try change(path) { (file) throws in
            var list = try EditList(ofTrack: track, file)
            let ticks = (Int128(end.value) * Int128(list.movieScale)) / Int128(max(1, end.timescale))
            let last = list.count - 1
            let wait = last == 1 ? list.duration(0) : 0
            guard last >= 0, ticks > Int128(wait), let length = UInt64(exactly: ticks - Int128(wait)) else {
                throw unsuited
            }
            list.setDuration(min(length, list.duration(last)), last)
            try list.write(file)
        }
    }

    private static func change(
        _ path: String, _ part: String = "edit list", _ body: (FileHandle) throws -> Void
    ) throws(MediaError) {
        guard let handle = FileHandle(forUpdatingAtPath: path) else {
            throw MediaError(.storage, .other, "\(path) cannot be opened again.")
        }
        defer { try? handle.close() }
        do {
            try body(handle)
        } catch let error as MediaError {
            throw error
        } catch {
            throw MediaError(.storage, .other, "The \(part) of \(path) could not be written: \(error)")
        }
    }

    /// The `elst` box of a track, with one entry or an empty one and another.
    private struct EditList {
        let movieScale: UInt64
        let mediaScale: UInt64
        let count: Int
        private let place: Range<Int>
        private let width: Int
        private var bytes: [UInt8]

        init(ofTrack track: Int, _ file: FileHandle) throws {
            let size = Int(clamping: try file.seekToEnd())
            guard let moov = try child("moov", in: 0..<size, file),
                let header = try child("mvhd", in: moov, file),
                let trak = try children(in: moov, file).filter({ $0.type == "trak" }).dropFirst(track).first?.body,
                let media = try child("mdia", in: trak, file), let mediaHeader = try child("mdhd", in: media, file),
                let edits = try child("edts", in: trak, file), let list = try child("elst", in: edits, file)
            else { throw unsuited }
            movieScale = try timescale(header, file)
            mediaScale = try timescale(mediaHeader, file)
            place = list
            bytes = try read(list, file)
            width = bytes.first == 1 ? 8 : 4
            count = Int(clamping: number(bytes, 4, 4) ?? 0)
            guard movieScale > 0, mediaScale > 0, (1...2).contains(count), bytes.count >= 8 + count * (2 * width + 4),
                count == 1 || number(bytes, 8 + width, width) == empty
            else { throw unsuited }
        }

        /// Of an edit that shows nothing.
        var empty: UInt64 { width == 8 ? .max : UInt64(UInt32.max) }

        private func offset(_ entry: Int) -> Int { 8 + entry * (2 * width + 4) }
        func duration(_ entry: Int) -> UInt64 { number(bytes, offset(entry), width) ?? 0 }
        func start(_ entry: Int) -> UInt64 { number(bytes, offset(entry) + width, width) ?? 0 }
        mutating func setDuration(_ value: UInt64, _ entry: Int) { put(value, &bytes, offset(entry), width) }
        mutating func setStart(_ value: UInt64, _ entry: Int) { put(value, &bytes, offset(entry) + width, width) }

        func write(_ file: FileHandle) throws {
            try file.seek(toOffset: UInt64(place.lowerBound))
            try file.write(contentsOf: Data(bytes))
        }
    }

    private static func cut(_ track: Int, _ priming: Int64, _ file: FileHandle) throws {
        var list = try EditList(ofTrack: track, file)
        guard list.count == 2 else { throw unsuited }
        let (wait, length) = (list.duration(0), list.duration(1))
        let (cut, overflow) = UInt64(priming).multipliedReportingOverflow(by: list.movieScale)
        let moved = (overflow ? 0 : cut) / list.mediaScale
        guard moved > 0, length > moved, wait + moved < list.empty else { throw unsuited }
        list.setDuration(wait + moved, 0)
        list.setDuration(length - moved, 1)
        list.setStart(list.start(1) + UInt64(priming), 1)
        try list.write(file)
    }

    private static let unsuited = MediaError(
        .finalization, .other, "The movie's edit list is not of the form that libavformat writes.")

    // MARK: Boxes

    private static func children(
        in range: Range<Int>, _ file: FileHandle
    ) throws -> [(type: String, body: Range<Int>)] {
        var boxes: [(type: String, body: Range<Int>)] = []
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound {
            let head = try read(offset..<min(offset + 16, range.upperBound), file)
            guard let short = number(head, 0, 4) else { break }
            let isLong = short == 1
            let length = isLong ? Int(clamping: number(head, 8, 8) ?? 0) : Int(short)
            guard length >= (isLong ? 16 : 8), length <= range.upperBound - offset else { break }
            boxes.append(
                (String(decoding: head[4..<8], as: UTF8.self), (offset + (isLong ? 16 : 8))..<(offset + length)))
            offset += length
        }
        return boxes
    }

    private static func child(_ type: String, in range: Range<Int>, _ file: FileHandle) throws -> Range<Int>? {
        try children(in: range, file).first { $0.type == type }?.body
    }

    /// `mvhd` and `mdhd` put the timescale behind two times of 32 (version 0) or 64 bits (version 1).
    private static func timescale(_ box: Range<Int>, _ file: FileHandle) throws -> UInt64 {
        let bytes = try read(box.lowerBound..<min(box.upperBound, box.lowerBound + 32), file)
        return number(bytes, bytes.first == 1 ? 20 : 12, 4) ?? 0
    }

    private static func read(_ range: Range<Int>, _ file: FileHandle) throws -> [UInt8] {
        try file.seek(toOffset: UInt64(range.lowerBound))
        return Array(try file.read(upToCount: range.count) ?? Data())
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ width: Int) -> UInt64? {
        MovieBoxes.number(bytes, at: offset, bytes: width)
    }

    private static func put(_ value: UInt64, _ bytes: inout [UInt8], _ offset: Int, _ width: Int) {
        for index in 0..<width {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(width - 1 - index)))
        }
    }
}
