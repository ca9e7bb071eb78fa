/// Rows in aligned columns, two blanks apart. Columns that are empty in every row are left out.
struct TextTable: Sendable {
    enum Alignment: Sendable { case left, right }

    struct Column: Sendable {
        let title: String
        let alignment: Alignment

        init(_ title: String, _ alignment: Alignment = .left) {
            self.title = title
            self.alignment = alignment
        }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// - Parameter cells: one a column; missing ones are empty, line breaks and control characters become blanks.
    mutating func add(_ cells: [String]) {
        let padded = cells.prefix(columns.count) + Array(repeating: "", count: max(0, columns.count - cells.count))
        rows.append(padded.map(Self.printable))
    }

    /// The table with its line of titles; empty text when there are no rows.
    var text: String {
        let shown = columns.indices.filter { index in rows.contains { !$0[index].isEmpty } }
        guard !shown.isEmpty else { return "" }
        let widths = shown.map { index in max(columns[index].title.count, rows.map { $0[index].count }.max() ?? 0) }
        let lines = [columns.map(\.title)] + rows
        return lines.map { line in
            var text = ""
            for (place, index) in shown.enumerated() {
                let padding = String(repeating: " ", count: widths[place] - line[index].count)
                text += columns[index].alignment == .right ? padding + line[index] : line[index] + padding
                text += "  "
            }
            while text.last == " " { text.removeLast() }
            return text + "\n"
        }.joined()
    }

    /// Text from files must not steer the terminal.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
