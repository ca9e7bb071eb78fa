internal import CFFmpeg
internal import Synchronization

/// Hands out picture memory and takes it back when the last frame that uses it is gone. Thread-safe.
public final class PixelBufferPool: @unchecked Sendable {
    /// Row alignment in bytes, enough for AVX-512.
    private static let alignment: Int32 = 64

    public let format: FrameFormat
    private let pool: OpaquePointer
    private let pixelFormat: AVPixelFormat
    private let size: (width: Int32, height: Int32)
    private let byteCount: Int32
    private let colour: ColourCodes
    private let known = Mutex<Set<UInt>>([])

    /// - Throws: `.format` for a size or format that cannot exist in memory, `.resources` without memory.
    public init(format: FrameFormat) throws(MediaError) {
        _ = CodecLog.installed
        self.format = format
        pixelFormat = try format.pixelFormatCode()
        size = try format.checkedSize()
        colour = try format.colour.codes()
        byteCount = try check(
            av_image_get_buffer_size(pixelFormat, size.width, size.height, Self.alignment), .format,
            "A picture of \(size.width) × \(size.height) in \(format.pixelFormat) cannot be held in memory.")
        // Vector code may read past the last row.
        guard let pool = av_buffer_pool_init(Int(byteCount) + Int(AV_INPUT_BUFFER_PADDING_SIZE), nil) else {
            throw MediaError(.resources, .outOfMemory, "No memory for a picture pool.")
        }
        self.pool = pool
    }

    deinit {
        // libav frees the pool when its last buffer has come back.
        var pool: OpaquePointer? = pool
        av_buffer_pool_uninit(&pool)
    }

    /// Distinct pieces of memory handed out so far: stays small while frames are let go.
    public var allocationCount: Int { known.withLock { $0.count } }

    /// A picture with undefined content.
    public func makeBuffer() throws(MediaError) -> PixelBuffer {
        let storage = try Frame.Storage()
        let frame = storage.frame
        guard let buffer = av_buffer_pool_get(pool) else {
            throw MediaError(.resources, .outOfMemory, "No memory for a picture of \(byteCount) bytes.")
        }
        known.withLock { _ = $0.insert(UInt(bitPattern: buffer.pointee.data)) }
        frame.pointee.buf.0 = buffer
        frame.pointee.width = size.width
        frame.pointee.height = size.height
        frame.pointee.format = pixelFormat.rawValue
        try check(
            weft_frame_fill_planes(frame, buffer.pointee.data, Self.alignment), .format,
            "The planes of a picture could not be laid out.")
        frame.pointee.extended_data = weft_frame_data(frame)
        frame.pointee.sample_aspect_ratio = AVRational(format.sampleAspectRatio)
        frame.pointee.color_primaries = colour.primaries
        frame.pointee.color_trc = colour.transfer
        frame.pointee.colorspace = colour.matrix
        frame.pointee.color_range = colour.range
        frame.pointee.chroma_location = colour.chromaLocation
        return PixelBuffer(storage)
    }
}

/// How often this process copied whole pictures by itself: decoder, filter and encoder share them, so it should stay at zero.
public enum PixelCopies {
    private static let copies = Atomic<Int>(0)

    public static var total: Int { copies.load(ordering: .relaxed) }

    static func count() { copies.add(1, ordering: .relaxed) }
}
