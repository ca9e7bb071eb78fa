import Foundation
import MediaTime
import Testing

@testable import Media

/// Generated pictures: a gradient that moves by a known amount a picture, so that each differs from its neighbours.
struct TestPictures {
    let pool: PixelBufferPool

    init(pool: PixelBufferPool) { self.pool = pool }

    init(
        width: Int = 160, height: Int = 90, pixelFormat: String = "yuv420p", timeBase: TimeBase? = nil,
        colour: ColourDescription = .unspecified
    ) throws {
        let unit = try timeBase ?? #require(TimeBase(numerator: 1, denominator: 25))
        pool = try PixelBufferPool(
            format: FrameFormat(
                width: width, height: height, pixelFormat: pixelFormat, timeBase: unit, frameRate: Rational(25, 1),
                sampleAspectRatio: Rational(1, 1), colour: colour))
    }

    var format: FrameFormat { pool.format }

    func picture(_ index: Int, pts: Int64, duration: Int64 = 0) throws -> Frame {
        var buffer = try pool.makeBuffer()
        let isDeep = format.pixelFormat.hasSuffix("10le")
        for plane in 0..<buffer.planeCount {
            buffer.withMutablePlane(plane) { bytes, layout in
                for row in 0..<layout.rows {
                    for column in 0..<layout.stride {
                        // Two bytes a sample, little end first, 10 bits: the upper byte holds two of them.
                        let value = (column + row + index * (plane + 3)) & 0xFF
                        bytes[row * layout.stride + column] = UInt8(isDeep && column % 2 == 1 ? value & 3 : value)
                    }
                }
            }
        }
        return buffer.frame(pts: pts, duration: duration, timeBase: format.timeBase)
    }

    /// One picture a tick.
    func pictures(_ count: Int) throws -> [Frame] {
        try (0..<count).map { try picture($0, pts: Int64($0), duration: 1) }
    }
}

/// A sine in each channel.
enum TestSound {
    static func frames(_ format: AudioFormat, count: Int, size: Int) throws -> [Frame] {
        try (0..<count).map { index in
            try Frame(sound: format, sampleCount: size, pts: Int64(index * size)) { channel, bytes in
                bytes.withMemoryRebound(to: Float.self) { samples in
                    for position in samples.indices {
                        let phase = Double((index * size + position) * (channel + 2)) * 0.02
                        samples[position] = Float(sin(phase) * 0.5)
                    }
                }
            }
        }
    }
}

/// Encodes all frames and drains.
func encode(_ frames: [Frame], _ settings: CompressionSettings) throws -> (samples: [Sample], format: FormatDescription)
{
    let session = try CompressionSession(settings: settings)
    var samples: [Sample] = []
    for frame in frames { try session.encode(frame) { samples.append($0) } }
    try session.finish { samples.append($0) }
    return (samples, session.format)
}

/// Decodes all samples and drains.
func decode(
    _ samples: [Sample], _ format: FormatDescription, _ settings: DecompressionSession.Settings = .init()
) throws -> [Frame] {
    guard let first = samples.first else { return [] }
    let session = try DecompressionSession(format: format, timeBase: first.timeBase, settings: settings)
    var frames: [Frame] = []
    for sample in samples { try session.decode(sample) { frames.append($0) } }
    try session.finish { frames.append($0) }
    return frames
}

func bytes(of sample: Sample) -> [UInt8] { sample.withUnsafeBytes { Array($0) } }

/// The picture's visible bytes, row after row.
func pixels(of frame: Frame) -> [UInt8] {
    var pixels: [UInt8] = []
    frame.forEachRow { pixels.append(contentsOf: $0) }
    return pixels
}

/// Peak signal-to-noise ratio of 8-bit pictures in dB.
func likeness(_ left: Frame, _ right: Frame) -> Double {
    let pairs = zip(pixels(of: left), pixels(of: right))
    let error = pairs.reduce(0.0) { sum, pair in
        let difference = Double(pair.0) - Double(pair.1)
        return sum + difference * difference
    }
    guard error > 0 else { return 99 }
    return 10 * log10(255 * 255 * Double(pixels(of: left).count) / error)
}
