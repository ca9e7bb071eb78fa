internal import Foundation

/// One line (or dots) over time, as SVG inside HTML.
struct Plot {
    var title: String
    var unit: String
    var points: [(x: Double, y: Double)]
    /// Marked with dashed lines.
    var joins: [Double] = []
    var dots = false
    /// The vertical axis spans at least this, so that noise does not look like news.
    var leastSpan = 0.0

    private static let (width, height, left, bottom, top) = (760.0, 190.0, 64.0, 26.0, 12.0)
    /// More points than this cannot be told apart on the page.
    private static let columns = 700

    func figure(_ caption: String) -> String {
        "<figure>\(svg)<figcaption><b>\(VerifyPage.escape(title)).</b> \(VerifyPage.escape(caption))</figcaption></figure>\n"
    }

    private var svg: String {
        let finite = points.filter { $0.x.isFinite && $0.y.isFinite }
        guard let first = finite.first else { return "" }
        let xs = (finite.map(\.x).min() ?? first.x, finite.map(\.x).max() ?? first.x)
        let ys = axis(finite.map(\.y))
        func x(_ value: Double) -> Double {
            Self.left + (value - xs.0) / max(xs.1 - xs.0, 1e-9) * (Self.width - Self.left - 12)
        }
        func y(_ value: Double) -> Double {
            Self.height - Self.bottom - (value - ys.0) / (ys.1 - ys.0) * (Self.height - Self.bottom - Self.top)
        }
        var parts: [String] = []
        for step in 0...4 {
            let value = ys.0 + (ys.1 - ys.0) * Double(step) / 4
            let place = Self.number(y(value))
            parts.append(
                "<line x1=\"\(Self.left)\" x2=\"\(Self.width - 12)\" y1=\"\(place)\" y2=\"\(place)\" stroke=\"#ddd\"/>")
            parts.append(
                "<text x=\"\(Self.left - 6)\" y=\"\(place)\" text-anchor=\"end\" dominant-baseline=\"middle\">\(label(value, ys.1 - ys.0))</text>"
            )
        }
        for step in 0...4 {
            let value = xs.0 + (xs.1 - xs.0) * Double(step) / 4
            parts.append(
                "<text x=\"\(Self.number(x(value)))\" y=\"\(Self.height - 8)\" text-anchor=\"\(step == 4 ? "end" : "middle")\">\(Self.number(value)) s</text>"
            )
        }
        for join in joins where join >= xs.0 && join <= xs.1 {
            let place = Self.number(x(join))
            parts.append(
                "<line x1=\"\(place)\" x2=\"\(place)\" y1=\"\(Self.top)\" y2=\"\(Self.height - Self.bottom)\" stroke=\"#777\" stroke-dasharray=\"4 3\"/>"
            )
        }
        if dots {
            for point in finite.prefix(2000) {
                parts.append(
                    "<circle cx=\"\(Self.number(x(point.x)))\" cy=\"\(Self.number(y(point.y)))\" r=\"3\" fill=\"#124\"/>"
                )
            }
        } else {
            let path = Self.thinned(finite).map { "\(Self.number(x($0.x))),\(Self.number(y($0.y)))" }
            parts.append(
                "<polyline points=\"\(path.joined(separator: " "))\" fill=\"none\" stroke=\"#124\" stroke-width=\"1.3\"/>"
            )
        }
        return
            "<svg viewBox=\"0 0 \(Self.width) \(Self.height)\" role=\"img\" aria-label=\"\(VerifyPage.escape(title)) over time\">"
            + parts.joined(separator: "\n") + "</svg>"
    }

    private func axis(_ values: [Double]) -> (Double, Double) {
        let (low, high) = (values.min() ?? 0, values.max() ?? 0)
        let span = max(high - low, leastSpan, 1e-4 * max(1, abs(high)))
        let middle = (low + high) / 2
        return (middle - span * 0.55, middle + span * 0.55)
    }

    /// The lowest and the highest of each column stay, so that no dip is lost.
    private static func thinned(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
        guard points.count > 2 * columns else { return points }
        let size = (points.count + columns - 1) / columns
        return stride(from: 0, to: points.count, by: size).flatMap { start in
            let part = points[start..<min(points.count, start + size)]
            let ends = [part.min { $0.y < $1.y }, part.max { $0.y < $1.y }].compactMap(\.self)
            return ends.sorted { $0.x < $1.x }
        }
    }

    private func label(_ value: Double, _ span: Double) -> String {
        let decimals = span >= 20 ? 0 : span >= 2 ? 1 : span >= 0.02 ? 3 : 5
        return String(format: "%.\(decimals)f", locale: Locale(identifier: "en_US_POSIX"), value)
            + (unit.isEmpty ? "" : " \(unit)")
    }

    private static func number(_ value: Double) -> String {
        String(format: "%.1f", locale: Locale(identifier: "en_US_POSIX"), value)
    }
}
