internal import ClusterProtocol
internal import Foundation
internal import Media

/// How far two pictures are from each other: peak signal to noise ratio of luma, in decibels.
///
/// Pictures of another size or pixel format than the output's are converted to it first, as a filter graph would.
final class PictureDistance {
    /// Stands for equal pictures.
    static let equal = 100.0

    private var converters: [Side: FilterGraph] = [:]
    private enum Side { case source, output }

    /// - Returns: `nil` for pictures that have no luma plane in memory.
    func decibels(_ source: Frame, _ output: Frame) throws(MediaError) -> Double? {
        let layout = Self.isPlanar(output.pixelFormat) ? output.pixelFormat : "yuv444p"
        let right = try converted(output, .output, width: output.width, height: output.height, layout)
        guard let right else { return nil }
        guard let left = try converted(source, .source, width: output.width, height: output.height, layout) else {
            return nil
        }
        let peak = Self.peak(of: layout)
        let squares = left.withPlane(0) { (first, firstLayout) -> UInt64? in
            let inner = right.withPlane(0) { (second, secondLayout) -> UInt64? in
                guard firstLayout.rowBytes == secondLayout.rowBytes, firstLayout.rows == secondLayout.rows else {
                    return nil
                }
                return Self.squares(
                    first, firstLayout.stride, second, secondLayout.stride, rowBytes: firstLayout.rowBytes,
                    rows: firstLayout.rows, isWide: peak > 255)
            }
            return inner.flatMap { $0 }
        }
        guard let squares, let squares else { return nil }
        guard squares > 0 else { return Self.equal }
        let mean = Double(squares) / Double(output.width * output.height)
        return min(Self.equal, 10 * log10(peak * peak / mean))
    }

    /// Luma alone in the first plane, one sample after the other.
    private static func isPlanar(_ format: String) -> Bool {
        (format.hasPrefix("yuv") && format.contains("p") && !format.hasPrefix("yuyv") || format.hasPrefix("gray")
            || format == "nv12")
            && !format.hasSuffix("be")
    }

    private static func peak(of format: String) -> Double {
        for (suffix, peak) in [("9le", 511.0), ("10le", 1023), ("12le", 4095), ("14le", 16383), ("16le", 65535)]
        where format.hasSuffix(suffix) { return peak }
        return 255
    }

    private func converted(
        _ frame: Frame, _ side: Side, width: Int, height: Int, _ layout: String
    ) throws(MediaError) -> Frame? {
        if frame.width == width, frame.height == height, frame.pixelFormat == layout { return frame }
        if let graph = converters[side], !graph.accepts(frame) { converters[side] = nil }
        let graph: FilterGraph
        if let made = converters[side] {
            graph = made
        } else {
            graph = try FilterGraph(
                description: "scale=\(width):\(height):flags=bicubic", input: frame.format, outputPixelFormat: layout)
            converters[side] = graph
        }
        var result: Frame?
        try graph.process(frame) { result = $0 }
        return result.flatMap { $0.width == width && $0.height == height ? $0 : nil }
    }

    private static func squares(
        _ left: UnsafeRawBufferPointer, _ leftStride: Int, _ right: UnsafeRawBufferPointer, _ rightStride: Int,
        rowBytes: Int, rows: Int, isWide: Bool
    ) -> UInt64 {
        var total: UInt64 = 0
        for row in 0..<rows {
            let first = UnsafeRawBufferPointer(rebasing: left[row * leftStride..<row * leftStride + rowBytes])
            let second = UnsafeRawBufferPointer(rebasing: right[row * rightStride..<row * rightStride + rowBytes])
            total &+= isWide ? wideRow(first, second) : narrowRow(first, second)
        }
        return total
    }

    private static func narrowRow(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> UInt64 {
        // 255² × 66,051 pixels would fill 32 bits; rows are shorter.
        var sum: UInt32 = 0
        for index in 0..<min(left.count, 65_536) {
            let difference = Int32(left[index]) &- Int32(right[index])
            sum &+= UInt32(bitPattern: difference &* difference)
        }
        return UInt64(sum)
    }

    private static func wideRow(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> UInt64 {
        let first = left.assumingMemoryBound(to: UInt16.self)
        let second = right.assumingMemoryBound(to: UInt16.self)
        var sum: UInt64 = 0
        for index in 0..<min(first.count, second.count) {
            let difference = Int64(first[index]) &- Int64(second[index])
            sum &+= UInt64(bitPattern: difference &* difference)
        }
        return sum
    }
}
