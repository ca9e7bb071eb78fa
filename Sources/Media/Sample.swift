internal import CFFmpeg
internal import Foundation
public import MediaTime

/// One compressed sample: a packet's bytes with its times, its format description and its attachments.
///
/// Immutable and cheap to copy: the bytes are shared. The same type flows out of readers and compression sessions and into
/// decompression sessions and writers.
public struct Sample: Sendable {
    /// Owns the packet; never changed after `init`.
    final class Storage: @unchecked Sendable {
        let packet: UnsafeMutablePointer<AVPacket>

        /// - Parameter packet: taken over, freed with the storage.
        init(adopting packet: UnsafeMutablePointer<AVPacket>) { self.packet = packet }

        deinit {
            var packet: UnsafeMutablePointer<AVPacket>? = packet
            av_packet_free(&packet)
        }
    }

    let storage: Storage
    public let format: FormatDescription
    /// Unit of `pts`, `dts` and `duration`.
    public let timeBase: TimeBase
    /// Ticks; `nil` where the container has none.
    public let pts: Int64?
    public let dts: Int64?
    /// Ticks; 0 where unknown.
    public let duration: Int64
    /// Index of the track in its asset.
    public let track: Int

    /// Takes over `packet`, whose times are in `timeBase`.
    init(adopting packet: UnsafeMutablePointer<AVPacket>, track: Int, format: FormatDescription, timeBase: TimeBase) {
        storage = Storage(adopting: packet)
        self.format = format
        self.timeBase = timeBase
        self.track = track
        pts = packet.pointee.pts == weft_no_pts() ? nil : packet.pointee.pts
        dts = packet.pointee.dts == weft_no_pts() ? nil : packet.pointee.dts
        duration = max(0, packet.pointee.duration)
    }

    private init(
        storage: Storage, format: FormatDescription, timeBase: TimeBase, pts: Int64?, dts: Int64?, duration: Int64,
        track: Int
    ) {
        self.storage = storage
        self.format = format
        self.timeBase = timeBase
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.track = track
    }

    /// A sample from bytes that came from elsewhere (a wire, a file). The bytes are copied, with libav's padding behind them.
    public init(
        bytes: UnsafeRawBufferPointer, format: FormatDescription, timeBase: TimeBase, pts: Int64?, dts: Int64?,
        duration: Int64, isSync: Bool, track: Int = 0
    ) throws(MediaError) {
        guard bytes.count < Int(Int32.max) - Int(AV_INPUT_BUFFER_PADDING_SIZE), let packet = av_packet_alloc() else {
            throw MediaError(.resources, .outOfMemory, "No memory for a sample of \(bytes.count) bytes.")
        }
        let storage = Storage(adopting: packet)
        try check(
            av_new_packet(packet, Int32(bytes.count)), .resources, "No memory for a sample of \(bytes.count) bytes.")
        if let source = bytes.baseAddress, let data = packet.pointee.data { memcpy(data, source, bytes.count) }
        if isSync { packet.pointee.flags |= AV_PKT_FLAG_KEY }
        self.init(
            storage: storage, format: format, timeBase: timeBase, pts: pts, dts: dts, duration: duration, track: track)
    }

    /// The same bytes and attachments at other times; nothing is copied.
    public func retimed(pts: Int64?, dts: Int64?, duration: Int64, timeBase: TimeBase) -> Sample {
        Sample(
            storage: storage, format: format, timeBase: timeBase, pts: pts, dts: dts, duration: duration, track: track)
    }

    /// The same bytes under another format description or track number; nothing is copied.
    public func described(by format: FormatDescription, track: Int) -> Sample {
        Sample(
            storage: storage, format: format, timeBase: timeBase, pts: pts, dts: dts, duration: duration, track: track)
    }

    /// Size in bytes.
    public var size: Int { Int(storage.packet.pointee.size) }
    /// Byte offset in the source, `nil` where unknown.
    public var position: Int64? { storage.packet.pointee.pos >= 0 ? storage.packet.pointee.pos : nil }
    /// The container (or the encoder) calls this a random access point.
    public var isSync: Bool { storage.packet.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    /// Decoded for reference only: it lies outside the track's edit list (ISO/IEC 14496-12 §8.6.6).
    public var isDiscarded: Bool { storage.packet.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
    /// The container says that bytes are missing or wrong.
    public var isCorrupt: Bool { storage.packet.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: storage.packet.pointee.data, count: size))
    }

    /// Audio samples a packet decodes to, by its codec's own rule; 0 where only decoding would tell.
    public var audioSampleCount: Int {
        guard format.mediaType == .audio else { return 0 }
        // The call only reads the parameters, though its declaration does not say so.
        return max(0, Int(av_get_audio_frame_duration2(format.storage.parameters, storage.packet.pointee.size)))
    }
}
