internal import ClusterProtocol
internal import Foundation
internal import Media

/// How far a picture of the output is from the source's: both brought to one size, orientation and pixel format (the output's,
/// where it can be measured), then measured by libavfilter.
final class PictureDistance {
    /// Stands for equal pictures, decibels.
    static let equal = 100.0

    /// Filters that come first.
    private let filters: [Side: String]
    private var converters: [Side: FilterGraph] = [:]
    private var comparison: PictureComparison?
    private var neighbours: PictureComparison?
    private enum Side { case source, output }

    /// - Parameters:
    ///   - source: filters that cut and turn the source's pixels as the output's were; empty where both files store them alike.
    ///   - output: filters that cut off what the output does not show.
    init(source: [String] = [], output: [String] = []) {
        func chain(_ filters: [String]) -> String { filters.filter { !$0.isEmpty }.joined(separator: ",") }
        filters = [.source: chain(source), .output: chain(output)]
    }

    /// - Returns: `nil` for pictures that cannot be measured.
    func likeness(_ source: Frame, _ output: Frame) throws(MediaError) -> PictureComparison.Likeness? {
        let layout = Self.layout(output.pixelFormat)
        guard let right = try converted(output, .output, output.width, output.height, layout),
            let left = try converted(source, .source, output.width, output.height, layout)
        else { return nil }
        return try measure(left, right, with: &comparison)
    }

    /// How like two pictures of one film are: whether the scene changes between them.
    func continuity(_ first: Frame, _ second: Frame) throws(MediaError) -> Double? {
        guard first.width == second.width, first.height == second.height, first.pixelFormat == second.pixelFormat,
            PictureComparison.takes(first.pixelFormat)
        else { return nil }
        return try measure(first, second, with: &neighbours)?.similarity
    }

    private func measure(
        _ left: Frame, _ right: Frame, with kept: inout PictureComparison?
    ) throws(MediaError) -> PictureComparison.Likeness? {
        if !(kept?.accepts(left) ?? false) { kept = try PictureComparison(left.format) }
        guard var likeness = try kept?.likeness(left, right) else { return nil }
        likeness.decibels = min(Self.equal, likeness.decibels)
        return likeness
    }

    private static func layout(_ format: String) -> String {
        if PictureComparison.takes(format) { return format }
        return format == "nv12" ? "yuv420p" : format == "p010le" ? "yuv420p10le" : "yuv444p"
    }

    private func converted(
        _ frame: Frame, _ side: Side, _ width: Int, _ height: Int, _ layout: String
    ) throws(MediaError) -> Frame? {
        let first = filters[side] ?? ""
        if first.isEmpty, frame.width == width, frame.height == height, frame.pixelFormat == layout { return frame }
        if let graph = converters[side], !graph.accepts(frame) { converters[side] = nil }
        let graph: FilterGraph
        if let made = converters[side] {
            graph = made
        } else {
            let filters = [first, "scale=\(width):\(height):flags=bicubic"].filter { !$0.isEmpty }
            graph = try FilterGraph(
                description: filters.joined(separator: ","), input: frame.format, outputPixelFormat: layout)
            converters[side] = graph
        }
        var result: Frame?
        try graph.process(frame) { result = $0 }
        return result.flatMap { $0.width == width && $0.height == height ? $0 : nil }
    }
}
