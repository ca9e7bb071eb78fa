internal import CFFmpeg
public import MediaTime

/// Where the bytes of one plane lie.
public struct PlaneLayout: Sendable, Hashable {
    /// Bytes from one row to the next.
    public var stride: Int
    /// Bytes of a row that hold picture; the rest is padding.
    public var rowBytes: Int
    /// Fewer than the picture has where the plane is subsampled.
    public var rows: Int
}

/// A picture that is being drawn: one owner, mutable. `frame(…)` ends that and makes it an immutable, shareable `Frame`.
public struct PixelBuffer: ~Copyable {
    let storage: Frame.Storage

    init(_ storage: Frame.Storage) { self.storage = storage }

    public var width: Int { Int(storage.frame.pointee.width) }
    public var height: Int { Int(storage.frame.pointee.height) }
    public var planeCount: Int { max(0, Int(av_pix_fmt_count_planes(AVPixelFormat(storage.frame.pointee.format)))) }

    /// Calls `body` with the bytes of a plane, `stride × rows` of them; `nil` for a plane that the format does not have.
    public mutating func withMutablePlane<Result, Failure: Error>(
        _ plane: Int, _ body: (UnsafeMutableRawBufferPointer, PlaneLayout) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let layout = planeLayout(of: storage.frame, plane), let base = planeBase(of: storage.frame, plane) else {
            return nil
        }
        return try body(UnsafeMutableRawBufferPointer(start: base, count: layout.stride * layout.rows), layout)
    }

    /// Draws the pixels of `frame`, which must have the same size and format. A copy, and counted as one.
    public mutating func copyPixels(of frame: Frame) throws(MediaError) {
        guard frame.width == width, frame.height == height, frame.native.pointee.format == storage.frame.pointee.format
        else {
            throw MediaError(.format, .invalidSettings, "A picture cannot be copied into a buffer of another format.")
        }
        try check(av_frame_copy(storage.frame, frame.native), .format, "The picture could not be copied.")
        try check(av_frame_copy_props(storage.frame, frame.native), .format, "The picture could not be copied.")
        PixelCopies.count()
    }

    /// Ends drawing. Nothing is copied.
    ///
    /// - Parameters:
    ///   - pts: ticks of `timeBase`.
    ///   - duration: ticks; 0 where unknown.
    public consuming func frame(
        pts: Int64?, duration: Int64 = 0, timeBase: TimeBase, isInterlaced: Bool = false, isTopFieldFirst: Bool = false
    ) -> Frame {
        weft_frame_set_fields(storage.frame, isInterlaced ? 1 : 0, isTopFieldFirst ? 1 : 0)
        return Frame(storage, pts: pts, duration: duration, timeBase: timeBase)
    }
}

extension Frame {
    public var planeCount: Int { max(0, Int(av_pix_fmt_count_planes(AVPixelFormat(native.pointee.format)))) }

    /// The pixels lie in this process's memory, not on a device.
    public var isInMemory: Bool { native.pointee.hw_frames_ctx == nil && native.pointee.data.0 != nil }

    /// Calls `body` with the bytes of a plane; `nil` for a plane that the format does not have.
    public func withPlane<Result, Failure: Error>(
        _ plane: Int, _ body: (UnsafeRawBufferPointer, PlaneLayout) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let layout = planeLayout(of: native, plane), let base = planeBase(of: native, plane) else { return nil }
        return try body(UnsafeRawBufferPointer(start: base, count: layout.stride * layout.rows), layout)
    }

    /// Calls `body` with each row of each plane from the top, without padding: what two equal pictures have in common.
    public func forEachRow<Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
        for plane in 0..<planeCount {
            _ = try withPlane(plane) { (bytes, layout) throws(Failure) in
                for row in 0..<layout.rows {
                    let start = row * layout.stride
                    try body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + layout.rowBytes]))
                }
            }
        }
    }

    /// Calls `body` with the bytes of a channel (planar formats) or of all channels interleaved (packed formats, index 0).
    public func withSamples<Result, Failure: Error>(
        channel: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let format = AVSampleFormat(native.pointee.format)
        let channels = Int(native.pointee.ch_layout.nb_channels)
        let isPlanar = av_sample_fmt_is_planar(format) != 0
        guard mediaType == .audio, channel >= 0, channel < (isPlanar ? channels : 1),
            let data = native.pointee.extended_data, let base = data[channel]
        else { return nil }
        let count = sampleCount * Int(av_get_bytes_per_sample(format)) * (isPlanar ? 1 : channels)
        return try body(UnsafeRawBufferPointer(start: base, count: count))
    }
}

func planeBase(of frame: UnsafeMutablePointer<AVFrame>, _ plane: Int) -> UnsafeMutablePointer<UInt8>? {
    switch plane {
    case 0: frame.pointee.data.0
    case 1: frame.pointee.data.1
    case 2: frame.pointee.data.2
    case 3: frame.pointee.data.3
    default: nil
    }
}

/// `nil` for a plane that does not exist, lies on a device, or runs bottom-up (negative stride).
func planeLayout(of frame: UnsafeMutablePointer<AVFrame>, _ plane: Int) -> PlaneLayout? {
    let format = AVPixelFormat(frame.pointee.format)
    guard plane >= 0, plane < Int(av_pix_fmt_count_planes(format)), let descriptor = av_pix_fmt_desc_get(format),
        descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_HWACCEL) == 0
    else { return nil }
    let stride: Int32 =
        switch plane {
        case 0: frame.pointee.linesize.0
        case 1: frame.pointee.linesize.1
        case 2: frame.pointee.linesize.2
        default: frame.pointee.linesize.3
        }
    let rowBytes = av_image_get_linesize(format, frame.pointee.width, Int32(plane))
    guard stride > 0, rowBytes > 0, rowBytes <= stride else { return nil }
    let shift = plane == 1 || plane == 2 ? descriptor.pointee.log2_chroma_h : 0
    let rows = (Int(frame.pointee.height) + (1 << Int(shift)) - 1) >> Int(shift)
    return PlaneLayout(stride: Int(stride), rowBytes: Int(rowBytes), rows: rows)
}
