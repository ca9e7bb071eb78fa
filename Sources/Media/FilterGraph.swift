internal import CFFmpeg
internal import MediaTime

/// A libavfilter chain with one input and one output, single-threaded and therefore the same on every machine.
///
/// Blocking and for one thread at a time. When the input's format changes, make a new graph.
public final class FilterGraph {
    /// libavfilter's notation (`scale=1280:-2,hqdn3d`); empty for none.
    public let text: String
    /// There is nothing to do: frames come out as they went in.
    public var isPassThrough: Bool { chain == nil }

    private let input: CompressionSettings.Input
    private let chain: FilterChain?
    private var isFinished = false
    /// When the last frame ends, in the input's unit.
    private var end: Int64?
    private var videoOutput: FrameFormat?
    private var audioOutput: AudioFormat?
    private var hasSeenOutput = false

    /// A graph for pictures.
    ///
    /// - Parameter outputPixelFormat: converted to at the end where needed; `nil` leaves what the chain makes.
    /// - Throws: `.filter`/`.invalidSettings` with the filter's own words, `.format` for an input that cannot exist.
    public init(description: String, input: FrameFormat, outputPixelFormat: String? = nil) throws(MediaError) {
        _ = CodecLog.installed
        text = description
        self.input = .video(input)
        if let outputPixelFormat { _ = try FrameFormat.code(ofPixelFormat: outputPixelFormat) }
        if description.isEmpty, outputPixelFormat == nil || outputPixelFormat == input.pixelFormat {
            chain = nil
            videoOutput = input
            return
        }
        let chain = try FilterChain(
            description, source: "buffer", sink: "buffersink",
            conversion: outputPixelFormat.map { ("format", "pix_fmts=\($0)") }, keepsFullRange: input.isFullRange
        ) { (parameters) throws(MediaError) in
            let size = try input.checkedSize()
            let colour = try input.colour.codes()
            parameters.pointee.format = try input.pixelFormatCode().rawValue
            parameters.pointee.time_base = AVRational(input.timeBase)
            parameters.pointee.width = size.width
            parameters.pointee.height = size.height
            parameters.pointee.sample_aspect_ratio = AVRational(input.sampleAspectRatio)
            parameters.pointee.frame_rate = AVRational(input.frameRate)
            weft_buffersrc_set_colour(parameters, colour.matrix, colour.range)
        }
        self.chain = chain
        videoOutput = chain.pictureFormat(after: input)
    }

    /// A graph for sound.
    ///
    /// - Parameters:
    ///   - output: sample rate, sample format and layout converted to at the end; its time base is not looked at.
    ///   - frameSize: samples of each output frame, the last may be shorter; 0 for any number.
    public init(
        description: String = "", input: AudioFormat, output: AudioFormat? = nil, frameSize: Int = 0
    ) throws(MediaError) {
        _ = CodecLog.installed
        text = description
        self.input = .audio(input)
        guard let frameSize = Int32(exactly: frameSize), frameSize >= 0 else {
            throw MediaError(.filter, .invalidSettings, "A sound frame of \(frameSize) samples is not possible.")
        }
        let isConverted =
            output.map {
                ($0.sampleRate, $0.sampleFormat, $0.channelLayout)
                    != (input.sampleRate, input.sampleFormat, input.channelLayout)
            } ?? false
        if description.isEmpty, !isConverted, frameSize == 0 {
            chain = nil
            audioOutput = input
            return
        }
        let conversion = output.map {
            (
                "aformat",
                "sample_fmts=\($0.sampleFormat):sample_rates=\($0.sampleRate):channel_layouts=\($0.channelLayout)"
            )
        }
        let chain = try FilterChain(
            description, source: "abuffer", sink: "abuffersink", conversion: conversion
        ) { (parameters) throws(MediaError) in
            parameters.pointee.format = try input.sampleFormatCode().rawValue
            parameters.pointee.time_base = AVRational(input.timeBase)
            parameters.pointee.sample_rate = try input.checkedSampleRate()
            try input.withChannelLayout { (layout) throws(MediaError) in
                _ = try check(
                    av_channel_layout_copy(&parameters.pointee.ch_layout, layout), .resources,
                    "No memory for a channel layout.")
            }
        }
        if frameSize > 0 { av_buffersink_set_frame_size(chain.sink, UInt32(frameSize)) }
        self.chain = chain
        audioOutput = chain.soundFormat()
    }

    /// What comes out of a graph for pictures, in the input's time base; `nil` for sound. The colour is known for certain once the
    /// first frame has come out, because a filter may change it.
    public var outputFormat: FrameFormat? { videoOutput }

    /// What comes out of a graph for sound, with the time base of its frames; `nil` for pictures.
    public var outputAudioFormat: AudioFormat? { audioOutput }

    /// Whether `frame` has the format that the graph was made for; otherwise make a new graph.
    public func accepts(_ frame: Frame) -> Bool {
        switch input {
        case .video(let format):
            frame.width == format.width && frame.height == format.height && frame.pixelFormat == format.pixelFormat
        case .audio(let format):
            frame.sampleRate == format.sampleRate && frame.audioFormat?.sampleFormat == format.sampleFormat
                && frame.audioFormat?.channelLayout == format.channelLayout
        }
    }

    private var inputTimeBase: TimeBase {
        switch input {
        case .video(let format): format.timeBase
        case .audio(let format): format.timeBase
        }
    }

    /// Puts one frame in and hands out what is ready, maybe nothing.
    ///
    /// - Throws: `.filter` with the filter's own words; `.invalidSettings` for a frame of another format; `.timing` for a time that
    ///   the input's time base cannot hold. What `output` throws is passed on.
    public func process(_ frame: Frame, output: (Frame) throws(MediaError) -> Void) throws(MediaError) {
        guard !isFinished else { throw MediaError(.filter, .invalidSettings, "A frame came after the end.") }
        guard accepts(frame) else {
            throw MediaError(
                .filter, .invalidSettings, "The frame's format is not the one that the filter graph was made for.")
        }
        guard let chain else { return try output(frame) }
        let pts = try frame.ticks(in: inputTimeBase)
        let duration = frame.durationTicks(in: inputTimeBase)
        end = pts.addingReportingOverflow(duration).overflow ? nil : pts + duration
        try chain.send(frame, pts: pts, duration: duration)
        try drain(chain, output)
    }

    /// Hands out what the filters still hold.
    public func finish(output: (Frame) throws(MediaError) -> Void) throws(MediaError) {
        guard !isFinished else { return }
        isFinished = true
        guard let chain else { return }
        try chain.sendEnd(at: end)
        try drain(chain, output)
    }

    private func drain(_ chain: FilterChain, _ output: (Frame) throws(MediaError) -> Void) throws(MediaError) {
        while let storage = try chain.receive() {
            let frame = frame(storage, of: chain)
            if !hasSeenOutput {
                hasSeenOutput = true
                videoOutput?.colour = frame.colour
            }
            try output(frame)
        }
    }

    /// Filters such as `fps` change the unit; pictures go on in the unit they came in.
    private func frame(_ storage: Frame.Storage, of chain: FilterChain) -> Frame {
        let native = storage.frame
        let own = av_buffersink_get_time_base(chain.sink)
        let pts = native.pointee.pts == weft_no_pts() ? nil : native.pointee.pts
        let duration = weft_frame_duration(native)
        guard videoOutput != nil else {
            let unit = TimeBase(numerator: own.num, denominator: own.den) ?? inputTimeBase
            return Frame(storage, pts: pts, duration: Int64(native.pointee.nb_samples), timeBase: unit)
        }
        let unit = AVRational(inputTimeBase)
        guard own.num != unit.num || own.den != unit.den else {
            return Frame(storage, pts: pts, duration: duration, timeBase: inputTimeBase)
        }
        let rate = av_buffersink_get_frame_rate(chain.sink)
        let nominal = rate.num > 0 ? av_rescale_q(1, AVRational(num: rate.den, den: rate.num), unit) : 0
        return Frame(storage, pts: pts.map { av_rescale_q($0, own, unit) }, duration: nominal, timeBase: inputTimeBase)
    }
}
