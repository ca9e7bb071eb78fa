internal import CFFmpeg

extension Frame {
    /// A sound frame of your own making, in the format's time base.
    ///
    /// - Parameters:
    ///   - sampleCount: samples of each channel, at least 1.
    ///   - fill: called with the bytes of each channel (planar formats) or once with all of them interleaved (packed formats,
    ///     channel 0). They hold silence at first.
    /// - Throws: `.format` for what cannot exist, `.resources` without memory.
    public init(
        sound format: AudioFormat, sampleCount: Int, pts: Int64?,
        fill: (_ channel: Int, _ bytes: UnsafeMutableRawBufferPointer) -> Void = { _, _ in }
    ) throws(MediaError) {
        guard let count = Int32(exactly: sampleCount), count > 0 else {
            throw MediaError(.format, .invalidSettings, "A sound frame of \(sampleCount) samples is not possible.")
        }
        let storage = try Storage()
        let frame = storage.frame
        let sampleFormat = try format.sampleFormatCode()
        frame.pointee.format = sampleFormat.rawValue
        frame.pointee.sample_rate = try format.checkedSampleRate()
        frame.pointee.nb_samples = count
        try format.withChannelLayout { (layout) throws(MediaError) in
            _ = try check(
                av_channel_layout_copy(&frame.pointee.ch_layout, layout), .resources, "No memory for a channel layout.")
        }
        try check(av_frame_get_buffer(frame, 0), .resources, "No memory for \(sampleCount) samples of sound.")
        let channels = frame.pointee.ch_layout.nb_channels
        try check(
            av_samples_set_silence(frame.pointee.extended_data, 0, count, channels, sampleFormat), .format,
            "The sound format is not usable.")
        let isPlanar = av_sample_fmt_is_planar(sampleFormat) != 0
        let size = sampleCount * Int(av_get_bytes_per_sample(sampleFormat)) * (isPlanar ? 1 : Int(channels))
        for channel in 0..<(isPlanar ? Int(channels) : 1) {
            fill(channel, UnsafeMutableRawBufferPointer(start: frame.pointee.extended_data[channel], count: size))
        }
        let unit = AVRational(num: 1, den: frame.pointee.sample_rate)
        self.init(
            storage, pts: pts, duration: av_rescale_q(Int64(count), unit, AVRational(format.timeBase)),
            timeBase: format.timeBase)
    }

    /// A part of a sound frame, in samples; the bytes are copied unless it is the whole.
    ///
    /// - Throws: `.format` for a frame of pictures or a part that is not inside.
    package func sound(_ part: Range<Int>) throws(MediaError) -> Frame {
        guard part != 0..<sampleCount else { return self }
        guard let format = audioFormat, part.lowerBound >= 0, part.upperBound <= sampleCount, !part.isEmpty else {
            throw MediaError(.format, .invalidSettings, "A sound frame of \(sampleCount) samples has no part \(part).")
        }
        let copy = try Frame(sound: format, sampleCount: part.count, pts: pts)
        av_samples_copy(
            copy.native.pointee.extended_data, native.pointee.extended_data, 0, Int32(part.lowerBound),
            Int32(part.count), native.pointee.ch_layout.nb_channels, AVSampleFormat(native.pointee.format))
        return copy
    }
}
