internal import CFFmpeg
internal import Foundation
package import MediaTime

/// Turns text subtitles of one codec into another's, cue by cue: libavcodec's decoder makes ASS events of a sample, its encoder makes
/// a sample of events. When a cue is shown is no part of it: times stay with the caller, in the unit of the track.
package final class SubtitleSession {
    /// Of the converted track.
    package let format: FormatDescription
    /// Style names that the source defines; `["Default"]` where its codec knows none.
    package let styleNames: [String]

    private let decoder: UnsafeMutablePointer<AVCodecContext>
    private let encoder: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private var buffer: [UInt8]
    /// What an encoder may make of one cue.
    private static let largestCue = 1 << 20

    /// Whether libavcodec can read `codec` as text.
    package static func reads(codec: String) -> Bool {
        _ = CodecLog.installed
        // A caption stream's samples are no cues: characters arrive two by two. Teletext may be pictures.
        guard !["eia_608", "dvb_teletext"].contains(codec),
            let descriptor = avcodec_descriptor_get_by_name(codec)?.pointee
        else { return false }
        return descriptor.props & AV_CODEC_PROP_TEXT_SUB != 0 && avcodec_find_decoder(descriptor.id) != nil
    }

    /// - Parameter encoder: libavcodec's name: `mov_text`, `subrip`, `webvtt`, `ass`.
    package init(from source: FormatDescription, encoder name: String, timeBase: TimeBase) throws(MediaError) {
        _ = CodecLog.installed
        let decoder = try Self.openDecoder(source, timeBase: timeBase)
        var encoder: UnsafeMutablePointer<AVCodecContext>?
        do throws(MediaError) {
            let opened = try Self.openEncoder(name, header: UnsafePointer(decoder))
            encoder = opened
            format = try Self.format(of: opened)
            guard let packet = av_packet_alloc() else {
                throw MediaError(.resources, .outOfMemory, "No memory for subtitles.")
            }
            (self.decoder, self.encoder, self.packet) = (decoder, opened, packet)
        } catch {
            Self.close(decoder)
            Self.close(encoder)
            throw error
        }
        styleNames = Self.styleNames(decoder)
        buffer = [UInt8](repeating: 0, count: Self.largestCue)
    }

    deinit {
        Self.close(decoder)
        Self.close(encoder)
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
    }

    private static func close(_ context: UnsafeMutablePointer<AVCodecContext>?) {
        var context = context
        avcodec_free_context(&context)
    }

    // MARK: Opening

    private static func openDecoder(
        _ format: FormatDescription, timeBase: TimeBase
    ) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
        guard let codec = avcodec_find_decoder(format.parameters.pointee.codec_id),
            let context = avcodec_alloc_context3(codec)
        else { throw MediaError(.decoder, .unsupported, "This FFmpeg has no decoder for \(format.codecName).") }
        do throws(MediaError) {
            try check(
                avcodec_parameters_to_context(context, format.parameters), .format,
                "The format of the subtitles could not be copied.")
            context.pointee.pkt_timebase = AVRational(timeBase)
            try check(
                avcodec_open2(context, codec, nil), .decoder, "The \(format.codecName) decoder cannot be opened.",
                context: context)
        } catch {
            close(context)
            throw error
        }
        return context
    }

    private static func openEncoder(
        _ name: String, header decoder: UnsafePointer<AVCodecContext>
    ) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
        guard let codec = avcodec_find_encoder_by_name(name), codec.pointee.type == AVMEDIA_TYPE_SUBTITLE,
            let context = avcodec_alloc_context3(codec)
        else { throw MediaError(.encoder, .unsupported, "This FFmpeg has no subtitle encoder “\(name)”.") }
        do throws(MediaError) {
            context.pointee.time_base = AVRational(num: 1, den: 1000)
            // The styles that the events refer to. libavcodec frees its copy.
            let size = Int(decoder.pointee.subtitle_header_size)
            if let header = decoder.pointee.subtitle_header, size > 0, let copy = av_mallocz(size + 1) {
                memcpy(copy, header, size)
                context.pointee.subtitle_header = copy.assumingMemoryBound(to: UInt8.self)
                context.pointee.subtitle_header_size = Int32(size)
            }
            try check(
                avcodec_open2(context, codec, nil), .encoder, "The subtitle encoder “\(name)” cannot be opened.",
                context: context)
        } catch {
            close(context)
            throw error
        }
        return context
    }

    private static func format(of context: UnsafeMutablePointer<AVCodecContext>) throws(MediaError) -> FormatDescription
    {
        var parameters = avcodec_parameters_alloc()
        defer { avcodec_parameters_free(&parameters) }
        guard let parameters else { throw MediaError(.resources, .outOfMemory, "No memory for a format description.") }
        try check(
            avcodec_parameters_from_context(parameters, context), .format, "The subtitle format could not be copied.")
        return try FormatDescription(copying: parameters)
    }

    private static func styleNames(_ decoder: UnsafeMutablePointer<AVCodecContext>) -> [String] {
        guard let header = decoder.pointee.subtitle_header else { return ["Default"] }
        let bytes = UnsafeBufferPointer(start: header, count: Int(max(0, decoder.pointee.subtitle_header_size)))
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
            guard line.hasPrefix("Style:") else { return nil }
            return line.dropFirst(6).split(separator: ",").first?.trimmingCharacters(in: .whitespaces)
        }
    }

    // MARK: Converting

    /// The events that the sample shows: ASS dialogue lines as libavcodec passes them (`ReadOrder,Layer,Style,…,Text`). None for an empty cue.
    package func decode(_ sample: Sample) throws(MediaError) -> [String] {
        try check(av_packet_ref(packet, sample.storage.packet), .resources, "No memory for subtitles.")
        defer { av_packet_unref(packet) }
        packet.pointee.pts = sample.pts ?? weft_no_pts()
        packet.pointee.dts = sample.dts ?? packet.pointee.pts
        packet.pointee.duration = sample.duration
        // An empty QuickTime sample ends the cue before it (3GPP TS 26.245 §5.17).
        guard packet.pointee.size > 0 else { return [] }
        var subtitle = AVSubtitle()
        var isThere: Int32 = 0
        let code = avcodec_decode_subtitle2(decoder, &subtitle, &isThere, packet)
        defer { if isThere != 0 { avsubtitle_free(&subtitle) } }
        guard code >= 0 else {
            throw MediaError(
                .decoder, .invalidData,
                "A subtitle at \(sample.pts.map(String.init) ?? "?") × \(sample.timeBase) s is damaged.",
                code: code, log: CodecLog.recentLines(of: decoder))
        }
        guard isThere != 0 else { return [] }
        return (0..<Int(subtitle.num_rects)).compactMap { index in
            guard let rect = subtitle.rects?[index], let text = rect.pointee.ass else { return nil }
            return String(cString: text)
        }
    }

    /// The sample that shows `events` at the times given.
    package func encode(
        _ events: [String], pts: Int64, duration: Int64, timeBase: TimeBase, track: Int
    ) throws(MediaError) -> Sample {
        var subtitle = AVSubtitle()
        defer { avsubtitle_free(&subtitle) }
        subtitle.format = 1
        subtitle.end_display_time = UInt32(clamping: (try? timeBase.rescale(duration, to: .milliseconds)) ?? 0)
        guard let rects = av_calloc(max(1, events.count), MemoryLayout<UnsafeMutableRawPointer>.size) else {
            throw MediaError(.resources, .outOfMemory, "No memory for subtitles.")
        }
        subtitle.rects = rects.assumingMemoryBound(to: UnsafeMutablePointer<AVSubtitleRect>?.self)
        for event in events {
            guard let memory = av_mallocz(MemoryLayout<AVSubtitleRect>.size) else {
                throw MediaError(.resources, .outOfMemory, "No memory for subtitles.")
            }
            let rect = memory.assumingMemoryBound(to: AVSubtitleRect.self)
            rect.pointee.type = SUBTITLE_ASS
            rect.pointee.ass = av_strdup(event)
            subtitle.rects[Int(subtitle.num_rects)] = rect
            subtitle.num_rects += 1
        }
        let size = avcodec_encode_subtitle(encoder, &buffer, Int32(buffer.count), &subtitle)
        try check(size, .encoder, "A subtitle could not be encoded.", context: encoder)
        return try buffer.withUnsafeBufferPointer { (bytes) throws(MediaError) in
            try Sample(
                bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<Int(size)])), format: format,
                timeBase: timeBase,
                pts: pts, dts: pts, duration: duration, isSync: true, track: track)
        }
    }
}
