internal import CFFmpeg
internal import Foundation
internal import MediaTime

/// Opening: what may go wrong before the first sample, told apart.
extension Demuxer {
    static func isURL(_ location: String) -> Bool {
        guard let colon = location.range(of: "://") else { return false }
        return location[..<colon.lowerBound].allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
            && colon.lowerBound != location.startIndex
    }

    /// A path is always given as `file:`, so that a colon in it is never a protocol.
    static func address(_ location: String) -> String { isURL(location) ? location : "file:\(location)" }

    /// How the network is treated: a connection over which nothing comes is left for another, and a server that went away and came back
    /// (a restart) is asked for the rest. `InputWatch` ends it.
    static func protocolOptions(_ location: String) -> [(String, String)] {
        guard isWeb(location) else { return [] }
        return [("rw_timeout", "10000000"), ("reconnect", "1"), ("reconnect_delay_max", "4")]
    }

    /// Options for a source that was there before: a server that cannot be reached just now is tried again for some seconds.
    package static func patience(for location: String) -> [String: String] {
        isWeb(location) ? ["reconnect_on_network_error": "1"] : [:]
    }

    static func isWeb(_ location: String) -> Bool {
        location.hasPrefix("http://") || location.hasPrefix("https://")
    }

    static func checkFile(_ location: String) throws(MediaError) {
        guard !isURL(location) else { return }
        guard !location.isEmpty else { throw MediaError(.asset, .notFound, "The source has no name.") }
        var info = stat()
        guard stat(location, &info) == 0 else {
            let code = weft_averror(errno)
            try check(code, .asset, "\(location) cannot be opened.")
            return
        }
        if info.st_mode & S_IFMT == S_IFDIR {
            throw MediaError(
                .asset, .notMedia, "\(location) is a directory, not a media file.", code: weft_averror(EISDIR))
        }
        if [S_IFIFO, S_IFSOCK, S_IFCHR].contains(info.st_mode & S_IFMT) {
            // Opening a pipe would wait for its writer, and what comes out of one cannot be read twice.
            throw MediaError(.asset, .notMedia, "\(location) is a pipe or a device, not a file.")
        }
        if info.st_mode & S_IFMT == S_IFREG, info.st_size == 0 {
            throw MediaError(.asset, .notMedia, "\(location) is empty.")
        }
    }

    static func notMedia(_ location: String, code: Int32, log: [String]) -> MediaError {
        if MovieBoxes.isUnfinished(fileAt: location) {
            return MediaError(
                .asset, .unfinished,
                "\(location) is a movie without its index (moov), which lies at the end: it is cut off, or was never finished.",
                code: code, log: log)
        }
        return MediaError(
            .asset, .notMedia, "\(location) is not a media file that can be read.", code: code, log: log)
    }

    static func open(
        _ location: String, options: [String: String], watch: InputWatch, probe: Probe
    ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext> {
        var dictionary: OpaquePointer?
        defer { av_dict_free(&dictionary) }
        for (key, value) in options.sorted(by: { $0.key < $1.key }) {
            try check(av_dict_set(&dictionary, key, value, 0), .resources, "No memory for options.")
        }
        for (key, value) in protocolOptions(location) where options[key] == nil {
            try check(av_dict_set(&dictionary, key, value, 0), .resources, "No memory for options.")
        }
        guard let fresh = avformat_alloc_context() else {
            throw MediaError(.resources, .outOfMemory, "No memory to open \(location).")
        }
        fresh.pointee.interrupt_callback = watch.callback
        watch.context = fresh
        if probe == .quick {
            fresh.pointee.probesize = 512 << 10
            fresh.pointee.max_analyze_duration = 500_000
        }
        var opened: UnsafeMutablePointer<AVFormatContext>? = fresh
        // On failure this frees the context.
        let code = avformat_open_input(&opened, address(location), nil, &dictionary)
        guard code >= 0, let context = opened else {
            watch.context = nil
            throw openFailure(location, code: code, watch: watch)
        }
        do {
            try refuseUnused(dictionary, location)
            if probe != .header { try findStreams(context, location, watch: watch) }
        } catch {
            avformat_close_input(&opened)
            watch.context = nil
            throw error
        }
        return context
    }

    private static func refuseUnused(_ dictionary: OpaquePointer?, _ location: String) throws(MediaError) {
        let unused = Metadata(dictionary).map(\.key)
        guard unused.isEmpty else {
            throw MediaError(
                .asset, .invalidSettings,
                "Nobody takes the option\(unused.count == 1 ? "" : "s") \(unused.joined(separator: ", ")) for \(location).",
                code: weft_averror_option_not_found())
        }
    }

    private static func findStreams(
        _ context: UnsafeMutablePointer<AVFormatContext>, _ location: String, watch: InputWatch
    ) throws(MediaError) {
        // A text file is "ANSI art" to libavformat; nobody exports that as video.
        if let name = context.pointee.iformat?.pointee.name,
            ["tty", "bin", "xbin", "adf", "idf"].contains(String(cString: name))
        {
            throw notMedia(location, code: 0, log: CodecLog.recentLines(of: context, since: watch.mark))
        }
        let code = avformat_find_stream_info(context, nil)
        guard code >= 0 else { throw openFailure(location, code: code, watch: watch) }
        if watch.interrupt.isInterrupted || watch.interrupt.isPastDeadline || watch.isSilent {
            throw openFailure(location, code: weft_averror_exit(), watch: watch)
        }
    }

    static func openFailure(_ location: String, code: Int32, watch: InputWatch) -> MediaError {
        let log = CodecLog.recentLines(of: nil, since: watch.mark)
        if watch.isSilent { return silence(of: location, log: log) }
        if watch.interrupt.isInterrupted {
            return MediaError(.cancelled, .cancelled, "Opening \(location) was stopped.", code: code, log: log)
        }
        if watch.interrupt.isPastDeadline {
            return MediaError(.asset, .timedOut, "\(location) did not answer in time.", code: code, log: log)
        }
        switch code {
        case weft_averror_invalid_data(), weft_averror_eof(), weft_averror_demuxer_not_found(), weft_averror(EISDIR):
            return notMedia(location, code: code, log: log)
        case weft_averror_http_not_found():
            return MediaError(.asset, .notFound, "The server has no \(location).", code: code, log: log)
        case weft_averror_http_unauthorized(), weft_averror_http_forbidden():
            return MediaError(.asset, .notPermitted, "The server does not give \(location) away.", code: code, log: log)
        case weft_averror_http_server():
            return MediaError(
                .asset, .timedOut, "The server of \(location) is in trouble.", code: code, log: log)
        case weft_averror(ECONNREFUSED), weft_averror(EHOSTUNREACH), weft_averror(ENETUNREACH),
            weft_averror(ECONNRESET):
            return MediaError(.asset, .timedOut, "The server of \(location) cannot be reached.", code: code, log: log)
        case weft_averror(ETIMEDOUT) where isWeb(location):
            return MediaError(.asset, .timedOut, "The server of \(location) does not answer.", code: code, log: log)
        case weft_averror_protocol_not_found():
            return MediaError(
                .asset, .unsupported, "The protocol of \(location) is not supported.", code: code, log: log)
        // Of a file that can be read these are about its bytes, too (a Y4M header without a size, an element of Matroska beyond the end).
        case _ where [EIO, EINVAL, EPERM].contains(-code) && isReadable(location):
            return notMedia(location, code: code, log: log)
        // libavformat's own codes, not the system's: what is in the header cannot be.
        case ..<(-0x10000):
            return notMedia(location, code: code, log: log)
        default:
            do {
                try check(code, .asset, "\(location) cannot be opened.", since: watch.mark)
                return notMedia(location, code: code, log: log)
            } catch { return error }
        }
    }

    /// A local file whose beginning and end can be read: what a demuxer calls an I/O error in it is the file's own end, where the header
    /// says that there is more.
    private static func isReadable(_ location: String) -> Bool {
        guard !isURL(location), let file = BoxFile(path: location) else { return false }
        let span = 1 << 20
        let head = file.bytes(at: 0, count: min(span, Int(file.size)))
        let tail = file.bytes(at: max(0, file.size - Int64(span)), count: min(span, Int(file.size)))
        return !head.isEmpty && head.count == tail.count
    }

    /// A server that takes requests and answers none, or stopped in the middle of an answer.
    static func silence(of location: String, log: [String]) -> MediaError {
        let seconds = InputWatch.patience.components.seconds
        return MediaError(
            .asset, .timedOut, "The server of \(location) has sent nothing for \(seconds) s.",
            code: weft_averror(ETIMEDOUT),
            log: log)
    }

    static func chapters(of context: UnsafeMutablePointer<AVFormatContext>) -> [Chapter] {
        (0..<Int(context.pointee.nb_chapters)).compactMap { index in
            guard let chapter = context.pointee.chapters[index]?.pointee,
                let timeBase = TimeBase(numerator: chapter.time_base.num, denominator: chapter.time_base.den)
            else { return nil }
            return Chapter(
                id: Int64(chapter.id), timeBase: timeBase, start: chapter.start, end: max(chapter.start, chapter.end),
                metadata: Metadata(chapter.metadata))
        }
    }

    /// Whether the file says how long it is, and not that nobody knew when its header was written (`Track.untold`), in the film's
    /// unit, which is a track's or milliseconds.
    static func tellsLength(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        let units =
            [AVRational(num: 1, den: 1000)]
            + (0..<Int(context.pointee.nb_streams)).compactMap {
                context.pointee.streams[$0]?.pointee.time_base
            }
        let microseconds = AVRational(num: 1, den: AV_TIME_BASE)
        return !units.contains { av_rescale_q(Track.untold, $0, microseconds) == context.pointee.duration }
    }

    static func time(_ microseconds: Int64, positive: Bool) -> MediaTime? {
        guard microseconds != weft_no_pts(), !positive || microseconds > 0 else { return nil }
        return MediaTime(value: microseconds, timescale: 1_000_000)
    }
}
