internal import CFFmpeg
internal import Foundation
package import MediaTime

/// Reads compressed samples out of a container: one libavformat context.
///
/// Every call may block on a disk or a network: use it from a thread of your own, one thread at a time. Another thread stops it
/// through the `InterruptFlag`.
package final class Demuxer {
    /// How much of the media may be read while opening, beyond the container's header.
    package enum Probe: Sendable {
        /// Nothing: only what the header says. Pixel formats may be unknown; MPEG-TS has no tracks then.
        case header
        /// At most half a megabyte: enough for formats with a header (MP4, Matroska).
        case quick
        /// As much as libavformat asks for by default (5 MB): for streams without a header.
        case full
    }

    /// One entry of the container's own index.
    package struct IndexEntry: Sendable, Hashable {
        /// Ticks of the track. MP4: decode time, the edit list's shift applied; Matroska: presentation time.
        package let timestamp: Int64
        /// Byte offset: of the sample in MP4, of its cluster in Matroska.
        package let position: Int64
        /// Bytes; 0 where the index does not say.
        package let size: Int
        package let isSync: Bool
        /// Outside the edit list: decoded, not shown.
        package let isDiscarded: Bool
    }

    package let location: String
    package private(set) var tracks: [Track] = []
    /// libavformat's name of the container, `mov,mp4,m4a,3gp,3g2,mj2` for one.
    package let containerName: String
    package let metadata: Metadata
    package let chapters: [Chapter]
    /// Of the whole presentation, rounded to 1 µs; `nil` where the container does not say.
    package let duration: MediaTime?
    /// Presentation time of the first sample of any track, rounded to 1 µs.
    package let startTime: MediaTime?
    /// `false` for a pipe or a server without ranges.
    package let isSeekable: Bool

    let context: UnsafeMutablePointer<AVFormatContext>
    private let watch: InputWatch
    private let options: [String: String]
    /// Current format of each track: changes when the container announces new parameter sets.
    private var formats: [FormatDescription] = []
    private var selection: Set<Int>?
    /// `false` for what may be a raw stream of pictures: libavformat finds its packets with a parser, and some of its demuxers say so
    /// (AVFMT_NOTIMESTAMPS), others only that nothing indexes the stream (AVFMT_GENERIC_INDEX).
    private let storesTimes: Bool
    /// Of a raw stream libavformat has found times by itself.
    private var isTimed = false
    private var untoldTime: Int64 = 0
    private var end = End.ahead
    private var bytesReadElsewhere: Int64 = 0
    private lazy var boxes = MovieBoxes(ofFileAt: location)
    private var clusterIndexes: [Int: ClusterIndex] = [:]
    private var told: HeaderFacts?

    private enum End { case ahead, failed, reached }
    /// Steps without a sample before a demuxer is taken for stuck.
    private static let patience = 100_000

    /// Opens a file or an http(s) URL.
    ///
    /// - Parameters:
    ///   - location: a path, taken literally (a colon in it is no protocol), or a URL with `://`.
    ///   - options: libavformat's, for the demuxer and the protocol; one that nobody takes is an error that names it.
    /// - Throws: `.notFound`, `.notPermitted`, `.notMedia` (also for a directory or an empty file), `.cancelled`, `.timedOut`.
    package init(
        location: String, options: [String: String] = [:], interrupt: InterruptFlag? = nil, probe: Probe = .full
    ) throws(MediaError) {
        _ = CodecLog.installed
        let watch = InputWatch(interrupt ?? InterruptFlag(), of: location)
        try Self.checkFile(location)
        let context = try Self.open(location, options: options, watch: watch, probe: probe)
        self.location = location
        self.options = options
        self.watch = watch
        self.context = context
        containerName = context.pointee.iformat?.pointee.name.map { String(cString: $0) } ?? ""
        metadata = Metadata(context.pointee.metadata)
        chapters = Self.chapters(of: context)
        duration = Self.tellsLength(context) ? Self.time(context.pointee.duration, positive: true) : nil
        startTime = Self.time(context.pointee.start_time, positive: false)
        isSeekable = (context.pointee.pb?.pointee.seekable ?? 0) & AVIO_SEEKABLE_NORMAL != 0
        // A program stream gives only some pictures a presentation time (ISO/IEC 13818-1 §2.7.5). Of one that others refer to it is
        // the decode time of the next such, which libavformat looks up when told to.
        if containerName == "mpeg" { context.pointee.flags |= AVFMT_FLAG_GENPTS }
        let mayBeRaw = context.pointee.nb_streams == 1 ? AVFMT_NOTIMESTAMPS | AVFMT_GENERIC_INDEX : AVFMT_NOTIMESTAMPS
        storesTimes = (context.pointee.iformat?.pointee.flags ?? 0) & mayBeRaw == 0 && !Self.isTimeless(context)
        // From here on a thrown error runs deinit, which closes the context.
        try discoverTracks()
        guard probe == .header || tracks.contains(where: { $0.format.isKnown }) else {
            throw Self.notMedia(location, code: 0, log: CodecLog.recentLines(of: context, since: watch.mark))
        }
    }

    /// A program stream may leave out its time stamps; of one without a single one until now the pictures follow one another, too.
    private static func isTimeless(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        guard context.pointee.iformat?.pointee.name.map({ String(cString: $0) }) == "mpeg",
            context.pointee.nb_streams == 1,
            let stream = context.pointee.streams[0]
        else { return false }
        return stream.pointee.start_time == weft_no_pts()
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&context)
    }

    /// Bytes that came from the file or the network so far, by libavformat's own count.
    package var bytesRead: Int64 { (context.pointee.pb?.pointee.bytes_read ?? 0) + bytesReadElsewhere }

    /// Size of the file in bytes, `nil` where it is not known.
    package var byteCount: Int64? {
        guard let pb = context.pointee.pb else { return nil }
        let size = avio_size(pb)
        return size > 0 ? size : nil
    }

    /// Only the samples of these tracks are read from now on.
    package func select(tracks indexes: some Sequence<Int>) {
        let selection = Set(indexes)
        self.selection = selection
        for index in 0..<Int(context.pointee.nb_streams) {
            context.pointee.streams[index]?.pointee.discard =
                selection.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
    }

    /// The program that a track belongs to, by its id; −1 where the container has no programs or this track is in none.
    package func program(ofTrack index: Int) -> Int {
        guard let stream = stream(index) else { return -1 }
        return av_find_program_from_stream(context, nil, stream.pointee.index).map { Int($0.pointee.id) } ?? -1
    }

    /// A read failed before the end: what was read until now is not the whole media.
    package var sawError: Bool { end == .failed || (context.pointee.pb?.pointee.error ?? 0) < 0 }

    /// The next sample of a selected track, in the order of the file.
    ///
    /// - Returns: `nil` at the end of the media, and only there.
    /// - Throws: a read error, also where libavformat would call it the end: an I/O error, a file that stops before its last
    ///   sample. The call after that returns `nil`.
    package func readSample() throws(MediaError) -> Sample? {
        guard end == .ahead else { return nil }
        let mark = CodecLog.mark
        defer { complaint = CodecLog.firstError(of: context, since: mark) }
        var again = 0
        while true {
            guard let packet = av_packet_alloc() else {
                throw MediaError(.resources, .outOfMemory, "No memory for a sample.")
            }
            let code = av_read_frame(context, packet)
            guard code >= 0 else {
                var packet: UnsafeMutablePointer<AVPacket>? = packet
                av_packet_free(&packet)
                // A demuxer has stepped over something and has nothing to show for it, as in a zeroed stretch of a transport stream.
                if code == weft_averror(EAGAIN), again < Self.patience {
                    again += 1
                    continue
                }
                try finish(code)
                return nil
            }
            if let sample = try sample(adopting: packet) { return sample }
        }
    }

    /// The picture of a track with `.attachedPicture`; there from the opening on.
    package func attachedPicture(ofTrack index: Int) -> Sample? {
        guard tracks.indices.contains(index), let stream = stream(index), stream.pointee.attached_pic.size > 0,
            let packet = av_packet_clone(&stream.pointee.attached_pic)
        else { return nil }
        return Sample(adopting: packet, track: index, format: formats[index], timeBase: tracks[index].timeBase)
    }

    /// The container's own words about what was read last, where it called something wrong with it: what is missing there is in no
    /// sample.
    package private(set) var complaint: String?

    /// The file stops before what its own tables name: why, and how many bytes are not there. Known once reading came to the end.
    package private(set) var cutOff: MediaError?

    /// As `readSample`, but damage that ends the reading is its end; `cutOff` then tells of it.
    package func readToEnd() throws(MediaError) -> Sample? {
        do {
            return try readSample()
        } catch {
            guard error.reason == .invalidData else { throw error }
            cutOff = error
            return nil
        }
    }

    /// What the container has cut off a track's pictures before they are shown; `nil` for nothing.
    ///
    /// Read from the file's own header when first asked for: FFmpeg 5.1 passes none of it on, and read by one reader it is the same
    /// with every version. What that does not know, FFmpeg 7.1 may tell.
    package func cropping(ofTrack index: Int) throws(MediaError) -> PictureCropping? {
        let facts = try headerFacts()
        guard tracks.indices.contains(index) else { return nil }
        let format = tracks[index].format
        return facts.croppings[index]
            ?? format.attachments.first { $0.kind == .frameCropping }
            .flatMap { PictureCropping(sideData: $0.bytes, width: format.width, height: format.height) }
    }

    /// The language of a track as BCP 47 tells it (`pt-BR`), where the container does; libavformat knows ISO 639-2 only.
    package func languageTag(ofTrack index: Int) throws(MediaError) -> String? { try headerFacts().languages[index] }

    /// By track.
    private struct HeaderFacts {
        var croppings: [Int: PictureCropping] = [:]
        var languages: [Int: String] = [:]
    }

    private func headerFacts() throws(MediaError) -> HeaderFacts {
        if let told { return told }
        var facts = HeaderFacts()
        defer { told = facts }
        guard isMovie || isMatroska else { return facts }
        let file = try HeaderBytes(location: location, interrupt: watch.interrupt)
        if isMovie {
            let movie = try MovieTracks(file)
            for track in tracks {
                facts.croppings[track.index] = movie.croppings[track.id]
                facts.languages[track.index] = movie.languages[track.id]
            }
            return facts
        }
        // libavformat numbers Matroska's tracks in the order of the file, without those of kinds that it does not know.
        let entries = try MatroskaTracks(file).entries
        for (type, kind) in [(MediaType.video, 1), (.audio, 2), (.subtitle, 17)] as [(MediaType, UInt64)] {
            let own = tracks.filter { $0.mediaType == type && !$0.disposition.contains(.attachedPicture) }
            for (track, entry) in zip(own, entries.filter { $0.kind == kind }) {
                facts.croppings[track.index] = entry.cropping
                facts.languages[track.index] = entry.language
            }
        }
        return facts
    }

    /// Moves to the last random access point at or before `ticks` (units of the track's time base).
    ///
    /// MP4 compares decode times, Matroska presentation times; what follows is in decode order from a sync sample.
    ///
    /// - Parameter anySample: stop at any sample, where the container can; it may not be decodable.
    package func seek(track index: Int, toTicks ticks: Int64, anySample: Bool = false) throws(MediaError) {
        let flags = AVSEEK_FLAG_BACKWARD | (anySample ? AVSEEK_FLAG_ANY : 0)
        try checkSeek(av_seek_frame(context, Int32(index), ticks, flags), "\(ticks) ticks of track \(index)")
    }

    /// Moves to a byte offset: only for containers without a header, such as MPEG-TS, where any offset will do.
    ///
    /// At a sample's `position` that sample comes first, with its times and flags; where a PES packet begins in the middle of a picture
    /// (ISO/IEC 13818-1 §2.4.3.7 allows it) the rest of that picture stands before the sample's own bytes, which decoders skip.
    package func seek(toByte position: Int64) throws(MediaError) {
        try checkSeek(av_seek_frame(context, -1, position, AVSEEK_FLAG_BYTE), "byte \(position)")
    }

    private func checkSeek(_ code: Int32, _ place: @autoclosure () -> String) throws(MediaError) {
        if code < 0, watch.isSilent {
            throw Self.silence(of: location, log: CodecLog.recentLines(of: context, since: watch.mark))
        }
        try check(
            code, .asset, "\(location) could not be positioned at \(place()).", context: context, since: watch.mark)
        end = .ahead
    }

    // MARK: Index

    /// The container's own index of a track in its order; `nil` where it has none.
    ///
    /// The read position stays. Matroska's cues lie at the end of the file: they are read over a second opening, once a track.
    package func containerIndex(track index: Int) throws(MediaError) -> [IndexEntry]? {
        guard let stream = stream(index) else { return nil }
        let entries = isMatroska ? try clusterIndex(track: index).entries : Self.entries(of: stream)
        return entries.isEmpty ? nil : entries
    }

    /// Whether the container itself holds the index of the whole track: the moov of MP4, the cues of Matroska.
    ///
    /// `false` for a fragmented file, whose index grows while it is read, and for everything without an index.
    package func isIndexed(track index: Int) throws(MediaError) -> Bool {
        guard let stream = stream(index) else { return false }
        if isMatroska { return try clusterIndex(track: index).isWhole }
        guard isMovie else { return false }
        let count = Int64(avformat_index_get_entries_count(stream))
        if let boxes { return !boxes.isFragmented && count > 0 }
        return count > 0 && stream.pointee.nb_frames > 0 && count >= stream.pointee.nb_frames
    }

    package var isMovie: Bool { containerName.split(separator: ",").contains("mp4") }
    package var isMatroska: Bool { containerName.split(separator: ",").contains("matroska") }

    private struct ClusterIndex {
        var entries: [IndexEntry]
        var isWhole: Bool
    }

    private func clusterIndex(track index: Int) throws(MediaError) -> ClusterIndex {
        if let known = clusterIndexes[index] { return known }
        let other = try Demuxer(location: location, options: options, interrupt: watch.interrupt, probe: .header)
        let result = try other.loadCues(track: index)
        bytesReadElsewhere += other.bytesRead
        clusterIndexes[index] = result
        return result
    }

    /// The first seek makes libavformat read the cues.
    private func loadCues(track index: Int) throws(MediaError) -> ClusterIndex {
        guard let stream = stream(index), isSeekable, let pb = context.pointee.pb else {
            return ClusterIndex(entries: [], isWhole: false)
        }
        let code = av_seek_frame(context, Int32(index), 0, AVSEEK_FLAG_BACKWARD)
        if watch.isSilent { throw Self.silence(of: location, log: []) }
        if watch.interrupt.isInterrupted || watch.interrupt.isPastDeadline || pb.pointee.error < 0 {
            try check(min(code, pb.pointee.error, -1), .asset, "The index of \(location) could not be read.")
        }
        let entries = Self.entries(of: stream)
        // Without cues the seek parses clusters until it knows two random access points, and the index holds those.
        return ClusterIndex(entries: entries, isWhole: Set(entries.map(\.position)).count > 2)
    }

    private static func entries(of stream: UnsafeMutablePointer<AVStream>) -> [IndexEntry] {
        let count = avformat_index_get_entries_count(stream)
        return (0..<count).compactMap { index in
            guard let entry = avformat_index_get_entry(stream, index) else { return nil }
            return IndexEntry(
                timestamp: entry.pointee.timestamp, position: entry.pointee.pos,
                size: Int(weft_index_entry_size(entry)), isSync: weft_index_entry_is_key(entry) != 0,
                isDiscarded: weft_index_entry_is_discarded(entry) != 0)
        }
    }

    private func stream(_ index: Int) -> UnsafeMutablePointer<AVStream>? {
        guard index >= 0, index < Int(context.pointee.nb_streams) else { return nil }
        return context.pointee.streams[index]
    }

    // MARK: Reading

    private func sample(adopting packet: UnsafeMutablePointer<AVPacket>) throws(MediaError) -> Sample? {
        let index = Int(packet.pointee.stream_index)
        let wanted = selection?.contains(index) ?? true
        guard wanted else {
            var packet: UnsafeMutablePointer<AVPacket>? = packet
            av_packet_free(&packet)
            return nil
        }
        time(packet)
        // MPEG-TS and FLV may announce a track after the opening.
        if index >= tracks.count { try discoverTracks() }
        var size = 0
        if let data = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 {
            formats[index] = try formats[index].replacingExtradata(
                Array(UnsafeBufferPointer(start: data, count: size)))
        }
        return Sample(adopting: packet, track: index, format: formats[index], timeBase: tracks[index].timeBase)
    }

    /// The pictures of a raw stream come one after the other at its frame rate; in which order they are shown, decoding tells.
    private func time(_ packet: UnsafeMutablePointer<AVPacket>) {
        guard !storesTimes, !isTimed else { return }
        guard packet.pointee.pts == weft_no_pts(), packet.pointee.dts == weft_no_pts(), packet.pointee.duration > 0
        else {
            isTimed = true
            return
        }
        packet.pointee.dts = untoldTime
        untoldTime &+= packet.pointee.duration
    }

    private func discoverTracks() throws(MediaError) {
        for index in tracks.count..<Int(context.pointee.nb_streams) {
            guard let stream = context.pointee.streams[index] else { continue }
            let segments = isMovie ? boxes?.segments(ofTrack: stream.pointee.id) ?? [] : []
            let track = try Track(stream, segments: segments, isEncrypted: nil)
            tracks.append(track)
            formats.append(track.format)
        }
    }

    /// libavformat turns many errors into the end of the file: tell them apart.
    private func finish(_ code: Int32) throws(MediaError) {
        end = .failed
        if code != weft_averror_eof() || watch.isSilent { try checkRead(code) }
        if let error = context.pointee.pb?.pointee.error, error < 0, error != weft_averror_eof() {
            try checkRead(error)
        }
        if watch.interrupt.isInterrupted || watch.interrupt.isPastDeadline {
            throw MediaError(
                .cancelled, watch.interrupt.isInterrupted ? .cancelled : .timedOut, "Reading \(location) was stopped.")
        }
        if let missing = missingBytes {
            throw MediaError(
                .asset, .invalidData, "\(location) is cut off: \(missing) bytes are missing at its end.",
                code: weft_averror_invalid_data(), log: CodecLog.recentLines(of: context, since: watch.mark))
        }
        end = .reached
    }

    private func checkRead(_ code: Int32) throws(MediaError) {
        if watch.isSilent {
            throw Self.silence(of: location, log: CodecLog.recentLines(of: context, since: watch.mark))
        }
        // The protocol cannot go to a place that the container names.
        if !isSeekable, Self.isWeb(location), code == weft_averror(ENOSYS) {
            throw MediaError(
                .asset, .noRanges,
                "The server of \(location) gives no ranges, and it cannot be read from front to end.",
                code: code, log: CodecLog.recentLines(of: context, since: watch.mark))
        }
        if isOfTheFile(code) {
            throw MediaError(
                .asset, .invalidData, "\(location) cannot be read to its end: \(MediaError.text(of: code)).",
                code: code,
                log: CodecLog.recentLines(of: context, since: watch.mark))
        }
        try check(code, .asset, "Reading \(location) failed.", context: context, since: watch.mark)
    }

    /// Demuxers give up with many codes (AVERROR_PATCHWELCOME, EINVAL, −1, even EIO). Where every byte that they asked for was there,
    /// it is what the bytes say. On the web only libav's own codes are taken for that: a protocol fails with all others.
    private func isOfTheFile(_ code: Int32) -> Bool {
        guard let pb = context.pointee.pb, pb.pointee.error >= 0 || pb.pointee.error == weft_averror_eof(),
            !watch.interrupt.isInterrupted, !watch.interrupt.isPastDeadline
        else { return false }
        return switch code {
        case weft_averror_exit(), weft_averror_eof(): false
        // A sample of impossible size has the code of a machine without memory (av_get_packet); where there really is none, nobody
        // gets that far.
        case weft_averror_patch_welcome(), weft_averror_invalid_data(), weft_averror(ENOMEM): true
        default: !Self.isURL(location)
        }
    }

    /// How far the container's own tables reach beyond the end of the file.
    private var missingBytes: Int64? {
        guard isMovie || isMatroska, let size = byteCount else { return nil }
        var needed: Int64 = 0
        if isMovie {
            for index in tracks.indices where selection?.contains(index) ?? true {
                guard let stream = stream(index) else { continue }
                for entry in 0..<avformat_index_get_entries_count(stream) {
                    guard let entry = avformat_index_get_entry(stream, entry) else { continue }
                    needed = max(needed, entry.pointee.pos &+ Int64(weft_index_entry_size(entry)))
                }
            }
        } else {
            needed = MatroskaSegment.end(ofFileAt: location) ?? 0
        }
        return needed > size ? needed - size : nil
    }
}
