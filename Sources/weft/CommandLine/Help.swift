/// The texts of `--help`, from the option table.
enum Help {
    /// Columns that help is laid out for.
    static let width = 96

    static var overview: String {
        var list = ""
        let commands = OptionTable.shownCommands
        let room = commands.map(\.name.count).max() ?? 0
        for command in commands {
            list += "  " + pad(command.name, room) + "   " + command.summary + "\n"
        }
        return """
            weft \(Version.number): export long videos in segments, and prove that nothing is missing

            Usage: weft COMMAND [ARGUMENTS] [OPTIONS]

            Commands
            \(list)
            'weft COMMAND --help' explains one. Start with:

              weft export film.mov film.mp4

            """
    }

    static func text(of command: CommandEntry) -> String {
        var parts = ["Usage: \(usage(of: command))\n"]
        parts.append(wrap(command.details, indent: 0))
        if !command.operands.isEmpty { parts.append(list(command.operands.map { ($0.name, $0.help) })) }
        let shown = command.allOptions.filter { !$0.isHidden }
        for group in OptionEntry.Group.allCases {
            let options = shown.filter { $0.group == group }
            if options.isEmpty { continue }
            parts.append("\(group.rawValue)\n" + list(options.map { (label(of: $0), $0.help) }))
        }
        let examples = command.examples.map { "  # \($0.meaning)\n  \($0.line)\n" }
        if !examples.isEmpty { parts.append("Examples\n" + examples.joined()) }
        return parts.joined(separator: "\n")
    }

    static func usage(of command: CommandEntry) -> String {
        let operands = command.operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
        return (["weft", command.name] + operands + ["[OPTIONS]"]).joined(separator: " ")
    }

    /// "-q, --quality N".
    static func label(of option: OptionEntry) -> String {
        (option.letter.map { "-\($0), " } ?? "    ") + "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
    }

    private static func list(_ rows: [(label: String, help: String)]) -> String {
        let room = rows.map(\.label.count).max() ?? 0
        return rows.map { row in
            let text = wrap(row.help, indent: room + 5)
            return "  " + pad(row.label, room) + "   " + text.drop { $0 == " " }
        }.joined()
    }

    /// Breaks paragraphs into lines, each after `indent` blanks.
    static func wrap(_ text: String, indent: Int, width: Int = width) -> String {
        let margin = String(repeating: " ", count: indent)
        let paragraphs = text.split(separator: "\n", omittingEmptySubsequences: true).map { paragraph in
            var lines: [String] = [""]
            for word in paragraph.split(separator: " ") {
                let last = lines[lines.count - 1]
                if last.isEmpty {
                    lines[lines.count - 1] = String(word)
                } else if indent + last.count + 1 + word.count <= width {
                    lines[lines.count - 1] += " " + word
                } else {
                    lines.append(String(word))
                }
            }
            return lines.map { margin + $0 + "\n" }.joined()
        }
        return paragraphs.joined(separator: "\n")
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
