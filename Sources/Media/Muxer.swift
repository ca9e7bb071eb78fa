internal import CFFmpeg
internal import Foundation
package import MediaTime

/// Writes compressed samples into a container: one libavformat context.
///
/// The caller orders the samples: nothing is held back for interleaving. Every call may block on the disk: use it from a thread of
/// your own, one thread at a time. Output depends on the input only: no dates, no library versions (`bitexact`).
package final class Muxer {
    package let path: String
    package let container: Container
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let options: [String: String]
    private var state = State.open
    /// After a failed `finish`: how many more bytes `moov_size` must reserve; `nil` where that was not the reason.
    package private(set) var indexShortfall: Int64?

    private enum State { case open, writing, finished }

    /// Creates (or empties) the file.
    ///
    /// - Parameter options: libavformat's muxer options (`movflags`, `moov_size`, `movie_timescale`, `write_tmcd`…); one that the
    ///   muxer does not take makes `writeHeader` throw an error that names it.
    package init(path: String, container: Container, options: [String: String] = [:]) throws(MediaError) {
        _ = CodecLog.installed
        var fresh: UnsafeMutablePointer<AVFormatContext>?
        try check(
            avformat_alloc_output_context2(&fresh, nil, container.rawValue, nil), .format,
            "There is no container format \"\(container.rawValue)\".")
        guard let context = fresh, let packet = av_packet_alloc() else {
            avformat_free_context(fresh)
            throw MediaError(.resources, .outOfMemory, "No memory to write \(path).")
        }
        self.path = path
        self.container = container
        self.context = context
        self.packet = packet
        self.options = options
        // From here on a thrown error runs deinit.
        context.pointee.flags |= AVFMT_FLAG_BITEXACT | AVFMT_FLAG_AUTO_BSF
        // FLAC in MP4 was standardised after libavformat called it an experiment.
        context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        // Matroska holds presentation times only: a decode time below zero is no reason to shift the whole file.
        if container.isMatroska { context.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED }
        try check(
            avio_open2(&context.pointee.pb, "file:\(path)", AVIO_FLAG_WRITE, nil, nil), .storage,
            "\(path) cannot be written.")
    }

    deinit {
        avio_closep(&context.pointee.pb)
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        avformat_free_context(context)
    }

    // MARK: Before the header

    /// - Parameters:
    ///   - timeBase: a wish; what the container makes of it is known after the header (`timeBase(ofTrack:)`).
    ///   - attachments: side data of the track; one of a kind replaces the format's own.
    ///   - codecTag: a four-character code to force, such as `hev1` where parameter sets may also be in band.
    /// - Returns: the number of the track in `write`.
    package func addTrack(
        format: FormatDescription, timeBase: TimeBase, metadata: Metadata = [:], disposition: Track.Disposition = [],
        language: String? = nil, attachments: [Attachment] = [], averageFrameRate: Rational? = nil,
        sampleAspectRatio: Rational? = nil, codecTag: String? = nil
    ) throws(MediaError) -> Int {
        try require(.open, "A track can be added only before the header.")
        // A Matroska attachment is a file of any kind.
        guard
            container.canHold(codec: format.codecName) || (format.mediaType == .attachment && container == .matroska)
        else {
            throw MediaError(.format, .unsupported, "\(container) cannot hold \(format.codecName).")
        }
        guard let stream = avformat_new_stream(context, nil), let parameters = stream.pointee.codecpar else {
            throw MediaError(.resources, .outOfMemory, "No memory for a track.")
        }
        try check(
            avcodec_parameters_copy(parameters, format.parameters), .format, "The format could not be copied.")
        parameters.pointee.codec_tag = try tag(for: format, forced: codecTag)
        stream.pointee.time_base = AVRational(timeBase)
        stream.pointee.disposition = disposition.rawValue
        if let averageFrameRate {
            stream.pointee.avg_frame_rate = AVRational(averageFrameRate)
            stream.pointee.r_frame_rate = AVRational(averageFrameRate)
        }
        if let aspect = sampleAspectRatio ?? Rational(known: parameters.pointee.sample_aspect_ratio) {
            // The two must agree, or the muxer refuses.
            stream.pointee.sample_aspect_ratio = AVRational(aspect)
            parameters.pointee.sample_aspect_ratio = AVRational(aspect)
        }
        var tags = metadata.removing(Self.generatedKeys)
        if let language { tags["language"] = language }
        try tags.copy(into: &stream.pointee.metadata)
        let kinds = Set(attachments.map(\.kind))
        for attachment in format.attachments.filter({ !kinds.contains($0.kind) }) + attachments {
            try Self.attach(attachment, to: stream)
        }
        return Int(stream.pointee.index)
    }

    /// Tags of the whole file. What a container generates itself is left out.
    package func set(metadata: Metadata) throws(MediaError) {
        try require(.open, "Tags can be set only before the header.")
        av_dict_free(&context.pointee.metadata)
        try metadata.removing(Self.generatedKeys).copy(into: &context.pointee.metadata)
    }

    package func set(chapters: [Chapter]) throws(MediaError) {
        try require(.open, "Chapters can be set only before the header.")
        for chapter in chapters {
            let unit = AVRational(chapter.timeBase)
            guard let added = weft_add_chapter(context, chapter.id, unit, chapter.start, chapter.end) else {
                throw MediaError(.resources, .outOfMemory, "No memory for chapters.")
            }
            try chapter.metadata.copy(into: &added.pointee.metadata)
        }
    }

    /// Tags that describe the source file rather than the content.
    private static let generatedKeys: Set = [
        "major_brand", "minor_version", "compatible_brands",
    ]

    private static func attach(_ attachment: Attachment, to stream: UnsafeMutablePointer<AVStream>) throws(MediaError) {
        guard let type = attachment.kind.packetType else {
            throw MediaError(
                .format, .unsupported, "This build of libav has no side data \"\(attachment.kind.rawValue)\".")
        }
        guard let data = weft_stream_new_side_data(stream, type, attachment.bytes.count) else {
            throw MediaError(.resources, .outOfMemory, "No memory for a track's side data.")
        }
        attachment.bytes.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { memcpy(data, base, bytes.count) }
        }
    }

    /// The source's tag where it means the same codec here, else the muxer's own choice; HEVC with its parameter sets only in the
    /// sample entry is `hvc1` (ISO/IEC 14496-15 §8.4.1), the name that Apple's players insist on.
    private func tag(for format: FormatDescription, forced: String?) throws(MediaError) -> UInt32 {
        if let forced {
            let bytes = Array(forced.utf8)
            guard bytes.count == 4 else {
                throw MediaError(.format, .invalidSettings, "\"\(forced)\" is not a four-character code.")
            }
            return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        let parameters = format.parameters.pointee
        if parameters.codec_tag != 0, let tags = context.pointee.oformat.pointee.codec_tag,
            av_codec_get_id(tags, parameters.codec_tag) == parameters.codec_id
        {
            return parameters.codec_tag
        }
        if parameters.codec_id == AV_CODEC_ID_HEVC, container.isMovie {
            return try tag(for: format, forced: "hvc1")
        }
        return 0
    }

    // MARK: Writing

    package func writeHeader() throws(MediaError) {
        try require(.open, "The header is already written.")
        var dictionary: OpaquePointer?
        defer { av_dict_free(&dictionary) }
        for (key, value) in options.sorted(by: { $0.key < $1.key }) {
            try check(av_dict_set(&dictionary, key, value, 0), .resources, "No memory for options.")
        }
        try check(
            avformat_init_output(context, &dictionary), .finalization, "\(container) cannot hold these tracks.",
            context: context)
        // libavformat wants its tear-down from now on, header or not.
        state = .writing
        let unused = Metadata(dictionary).map(\.key)
        guard unused.isEmpty else {
            throw MediaError(
                .finalization, .invalidSettings,
                "\(container) does not take the option\(unused.count == 1 ? "" : "s") \(unused.joined(separator: ", ")).",
                code: weft_averror_option_not_found())
        }
        let code = avformat_write_header(context, nil)
        if code < 0, code != weft_averror(ENOMEM), (context.pointee.pb?.pointee.error ?? 0) >= 0 {
            // Nothing went wrong with the file: it is what the tracks are.
            throw MediaError(
                .format, .unsupported, "\(container) cannot hold these tracks.", code: code,
                log: CodecLog.recentLines(of: context))
        }
        try check(
            code, .storage, "The header of \(path) could not be written.",
            context: context)
        try checkOutput()
    }

    /// The unit that the container really uses for the track; known after the header.
    package func timeBase(ofTrack track: Int) throws(MediaError) -> TimeBase {
        let unit = try stream(track).pointee.time_base
        guard let timeBase = TimeBase(numerator: unit.num, denominator: unit.den) else {
            throw MediaError(.timing, .invalidData, "Track \(track) has no usable time base.")
        }
        return timeBase
    }

    /// Writes one sample now. Its bytes are referenced, not copied; its times are rounded to the track's unit.
    ///
    /// Decode times must rise within a track and presentation must not precede decoding; the caller interleaves the tracks.
    /// - Throws: `.noSpace` when the disk is full, as soon as libavformat's buffer (32 KiB) reaches it; `.invalidData` for a sample
    ///   whose bytes the container's form does not allow: it is not in the file, and others may follow.
    package func write(_ sample: Sample, track: Int) throws(MediaError) {
        try require(.writing, "A sample can be written only between header and end.")
        let unit = try stream(track).pointee.time_base
        try check(
            av_packet_ref(packet, sample.storage.packet), .resources, "No memory for a sample.")
        packet.pointee.stream_index = Int32(track)
        packet.pointee.pts = sample.pts ?? weft_no_pts()
        packet.pointee.dts = sample.dts ?? weft_no_pts()
        packet.pointee.duration = sample.duration
        packet.pointee.pos = -1
        addCodecDelay(sample)
        av_packet_rescale_ts(
            packet, AVRational(sample.timeBase), unit)
        try checkNegative(packet, track: track, unit: unit)
        let isVoid = sample.format.codecName == "av1" && sample.withUnsafeBytes(TemporalUnit.isVoid)
        let code = isVoid ? weft_averror_invalid_data() : av_write_frame(context, packet)
        av_packet_unref(packet)
        try check(
            code, code == weft_averror(EINVAL) ? .timing : code == weft_averror_invalid_data() ? .format : .storage,
            "A sample of track \(track) (pts \(sample.pts.map(String.init) ?? "none"), dts "
                + "\(sample.dts.map(String.init) ?? "none")) could not be written to \(path).", context: context)
    }

    /// Pushes libavformat's buffer to the file.
    package func flush() throws(MediaError) {
        try require(.writing, "There is nothing to flush.")
        avio_flush(context.pointee.pb)
        try checkOutput()
    }

    /// Bytes written so far, those in the buffer included.
    package var bytesWritten: Int64 { context.pointee.pb.map { max(0, avio_seek($0, 0, SEEK_CUR)) } ?? finalSize }
    private var finalSize: Int64 = 0

    /// Writes the index and closes the file. Making it durable (fsync, rename) is the owner's part.
    ///
    /// - Returns: the size of the file.
    /// - Throws: where `moov_size` was too small, an error with `isIndexSpaceTooSmall`, and `indexShortfall` says by how much.
    @discardableResult
    package func finish() throws(MediaError) -> Int64 {
        try require(.writing, "There is nothing to finish.")
        state = .finished
        let code = av_write_trailer(context)
        if code < 0 { try explainTrailer(code) }
        finalSize = context.pointee.pb.map { max(0, avio_size($0)) } ?? 0
        try check(avio_closep(&context.pointee.pb), .storage, "The end of \(path) could not be written.")
        return finalSize
    }

    private func explainTrailer(_ code: Int32) throws(MediaError) {
        let log = CodecLog.recentLines(of: context)
        let words = "reserved_moov_size is too small, needed "
        if let line = log.last(where: { $0.contains(words) }), let range = line.range(of: words) {
            indexShortfall = Int64(line[range.upperBound...].prefix { $0.isNumber })
            throw MediaError(
                .finalization, .other, "The space reserved for the index of \(path) is too small.",
                code: MediaError.indexSpaceTooSmall, log: log)
        }
        try check(
            code, code == weft_averror(EINVAL) ? .finalization : .storage, "\(path) could not be finished.",
            context: context)
    }

    // MARK: Checks

    /// A Matroska block's time counts from the start of the priming (RFC 9559 §5.1.4.1.25, CodecDelay is subtracted by the
    /// reader). Newer libavformat adds that itself; older writes the delay for Opus and leaves the times alone.
    private func addCodecDelay(_ sample: Sample) {
        guard container.isMatroska, Self.marksPriming(of: sample.format, in: container),
            weft_matroska_adds_codec_delay() == 0,
            let rate = Int32(exactly: sample.format.sampleRate), rate > 0
        else { return }
        let delay = av_rescale_q(
            Int64(sample.format.initialPadding), AVRational(num: 1, den: rate), AVRational(sample.timeBase))
        if packet.pointee.pts != weft_no_pts() { packet.pointee.pts += delay }
        if packet.pointee.dts != weft_no_pts() { packet.pointee.dts += delay }
    }

    /// Whether the container can be told that sound of this format begins with samples that are not to be heard.
    package static func marksPriming(of format: FormatDescription, in container: Container) -> Bool {
        guard format.mediaType == .audio, format.initialPadding > 0 else { return false }
        if container.isMovie { return true }
        return container.isMatroska && (format.codecName == "opus" || weft_matroska_adds_codec_delay() != 0)
    }

    /// libavformat would write a negative Matroska time as 0, and all after it too late. Priming may reach below zero: it is written
    /// as CodecDelay (RFC 9559 §5.1.4.1.25).
    private func checkNegative(
        _ packet: UnsafeMutablePointer<AVPacket>, track: Int, unit: AVRational
    ) throws(MediaError) {
        guard container.isMatroska, context.pointee.avoid_negative_ts == AVFMT_AVOID_NEG_TS_DISABLED,
            packet.pointee.pts < 0, packet.pointee.pts != weft_no_pts(),
            let parameters = context.pointee.streams[track]?.pointee.codecpar.pointee
        else { return }
        let isLeftToLibav = weft_matroska_adds_codec_delay() != 0
        let priming =
            parameters.sample_rate > 0 && isLeftToLibav
            ? av_rescale_q(Int64(parameters.initial_padding), AVRational(num: 1, den: parameters.sample_rate), unit) : 0
        // Both are rounded.
        guard packet.pointee.pts + priming < -1 else { return }
        let pts = packet.pointee.pts
        av_packet_unref(packet)
        throw MediaError(
            .timing, .invalidSettings,
            "\(container) cannot hold the negative presentation time \(pts) × \(unit.num)/\(unit.den) s of track \(track)."
        )
    }

    /// An error of the output that libavformat has noticed but not returned yet.
    private func checkOutput() throws(MediaError) {
        guard let error = context.pointee.pb?.pointee.error else { return }
        try check(error, .storage, "\(path) could not be written.", context: context)
    }

    private func require(_ wanted: State, _ message: String) throws(MediaError) {
        guard state == wanted else { throw MediaError(.finalization, .invalidSettings, message) }
    }

    private func stream(_ track: Int) throws(MediaError) -> UnsafeMutablePointer<AVStream> {
        guard track >= 0, track < Int(context.pointee.nb_streams), let stream = context.pointee.streams[track] else {
            throw MediaError(.finalization, .invalidSettings, "There is no track \(track) in \(path).")
        }
        return stream
    }
}

extension MediaError {
    /// `code` of the error that `moov_size` was too small: FFERRTAG-like, so that it is no POSIX code.
    static let indexSpaceTooSmall: Int32 = -0x4D4F_4F56

    /// The space that `moov_size` reserved for the index did not suffice: write once more with a larger one.
    package var isIndexSpaceTooSmall: Bool { code == Self.indexSpaceTooSmall }
}
