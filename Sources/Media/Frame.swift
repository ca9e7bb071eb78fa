internal import CFFmpeg
public import MediaTime

/// One decoded sample: a picture, or a run of audio samples, with its times and attachments.
///
/// Immutable and cheap to copy: the pixels are shared between decoder, filter and encoder, never copied.
public struct Frame: Sendable {
    /// Owns the frame; never changed after `init`.
    final class Storage: @unchecked Sendable {
        let frame: UnsafeMutablePointer<AVFrame>

        init() throws(MediaError) {
            guard let frame = av_frame_alloc() else {
                throw MediaError(.resources, .outOfMemory, "No memory for a frame.")
            }
            self.frame = frame
        }

        deinit {
            var frame: UnsafeMutablePointer<AVFrame>? = frame
            av_frame_free(&frame)
        }
    }

    public enum PictureType: String, Sendable, Hashable {
        case intra = "I"
        case predicted = "P"
        case bidirectional = "B"
        case other = "?"
    }

    let storage: Storage
    /// Unit of `pts` and `duration`.
    public let timeBase: TimeBase
    /// Ticks; `nil` where neither the container nor the decoder knows.
    public let pts: Int64?
    /// Ticks; 0 where unknown.
    public let duration: Int64

    init(_ storage: Storage, pts: Int64?, duration: Int64, timeBase: TimeBase) {
        self.storage = storage
        self.pts = pts
        self.duration = max(0, duration)
        self.timeBase = timeBase
    }

    /// The same pixels and attachments at other times; nothing is copied.
    public func retimed(pts: Int64?, duration: Int64, timeBase: TimeBase) -> Frame {
        Frame(storage, pts: pts, duration: duration, timeBase: timeBase)
    }

    /// Only read through this; C wants it mutable.
    var native: UnsafeMutablePointer<AVFrame> { storage.frame }

    public var mediaType: MediaType { native.pointee.width > 0 ? .video : .audio }

    // MARK: Picture

    /// Pixels; 0 for audio.
    public var width: Int { Int(native.pointee.width) }
    public var height: Int { Int(native.pointee.height) }
    /// libavutil's name (`yuv420p10le`); empty for audio.
    public var pixelFormat: String {
        guard mediaType == .video, let name = av_get_pix_fmt_name(AVPixelFormat(native.pointee.format)) else {
            return ""
        }
        return String(cString: name)
    }
    public var sampleAspectRatio: Rational? { Rational(known: native.pointee.sample_aspect_ratio) }
    public var isInterlaced: Bool { weft_frame_is_interlaced(native) != 0 }
    /// Meaningful for interlaced pictures only.
    public var isTopFieldFirst: Bool { weft_frame_is_top_first(native) != 0 }
    /// Field periods that the picture is shown beyond its own two (pull-down, ISO/IEC 13818-2 §6.3.10).
    public var repeatedFields: Int { Int(native.pointee.repeat_pict) }
    /// The coded picture was a random access point.
    public var isKey: Bool { weft_frame_is_key(native) != 0 }
    /// The decoder had to guess parts of it, or had no reference for them.
    public var isCorrupt: Bool {
        native.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 || native.pointee.decode_error_flags != 0
    }

    /// The decoder made parts of it up (error concealment).
    public var isConcealed: Bool { native.pointee.decode_error_flags != 0 }

    public var pictureType: PictureType {
        switch native.pointee.pict_type {
        case AV_PICTURE_TYPE_I: .intra
        case AV_PICTURE_TYPE_P: .predicted
        case AV_PICTURE_TYPE_B: .bidirectional
        default: .other
        }
    }

    var colourCodes: ColourCodes {
        ColourCodes(
            primaries: native.pointee.color_primaries, transfer: native.pointee.color_trc,
            matrix: native.pointee.colorspace, range: native.pointee.color_range,
            chromaLocation: native.pointee.chroma_location)
    }

    public var colour: ColourDescription { ColourDescription(colourCodes) }

    /// What a filter graph or an encoder must be told to take this picture.
    public var format: FrameFormat {
        FrameFormat(
            width: width, height: height, pixelFormat: pixelFormat, timeBase: timeBase,
            sampleAspectRatio: sampleAspectRatio, colour: colour)
    }

    // MARK: Sound

    /// Samples a second; 0 for a picture.
    public var sampleRate: Int { Int(native.pointee.sample_rate) }
    /// Samples of each channel; 0 for a picture.
    public var sampleCount: Int { Int(native.pointee.nb_samples) }

    /// What a filter graph or an encoder must be told to take this sound; `nil` for a picture.
    public var audioFormat: AudioFormat? {
        guard mediaType == .audio, let name = av_get_sample_fmt_name(AVSampleFormat(native.pointee.format)) else {
            return nil
        }
        return AudioFormat(
            sampleRate: sampleRate, sampleFormat: String(cString: name),
            channelLayout: channelLayoutDescription(&native.pointee.ch_layout), timeBase: timeBase)
    }

    // MARK: Time

    /// libavcodec's guess at `pts` from all the samples so far, in the decoder's unit: for containers that store decoding times as
    /// presentation times. It depends on where decoding began. `nil` for frames that no decoder made.
    public var bestEffortPTS: Int64? {
        native.pointee.best_effort_timestamp == weft_no_pts() ? nil : native.pointee.best_effort_timestamp
    }

    /// `pts` in another unit, exactly.
    ///
    /// - Throws: `.timing`/`.invalidData` where the frame has no time or the unit cannot hold it.
    func ticks(in unit: TimeBase) throws(MediaError) -> Int64 {
        guard let pts else { throw MediaError(.timing, .invalidData, "A frame has no timestamp.") }
        guard unit != timeBase else { return pts }
        let ticks = av_rescale_q(pts, AVRational(timeBase), AVRational(unit))
        guard av_compare_ts(pts, AVRational(timeBase), ticks, AVRational(unit)) == 0 else {
            throw MediaError(
                .timing, .invalidData, "The timestamp \(pts) × \(timeBase) s cannot be written exactly in \(unit) s.")
        }
        return ticks
    }

    /// `duration` in another unit, to the nearest tick: durations are advice, timestamps decide.
    func durationTicks(in unit: TimeBase) -> Int64 {
        unit == timeBase ? duration : max(0, av_rescale_q(duration, AVRational(timeBase), AVRational(unit)))
    }
}

func channelLayoutDescription(_ layout: UnsafePointer<AVChannelLayout>) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let base = buffer.baseAddress, av_channel_layout_describe(layout, base, buffer.count) > 0 else {
            return ""
        }
        return String(cString: base)
    }
}
