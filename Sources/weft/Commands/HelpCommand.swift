internal import ClusterProtocol

/// `weft help [COMMAND]`, also `weft --help`.
enum HelpCommand {
    static let entry = CommandEntry(
        name: "help",
        summary: "Show the commands, or the options of one",
        details: "Shows the list of commands, or what COMMAND does and takes.",
        operands: [
            OperandEntry(name: "COMMAND", help: "The command to explain.", completion: .nothing, isOptional: true)
        ],
        examples: [.init(line: "weft help export", meaning: "the same as weft export --help")],
        run: { invocation in
            guard let name = invocation.operands.first else {
                StandardStream.output.write(Help.overview)
                return .done
            }
            guard let command = OptionTable.command(named: name) else {
                let names = OptionTable.shownCommands.map(\.name)
                throw UsageError(
                    nil, "there is no command '\(name)'.\(Suggestion.sentence(for: name, among: names))")
            }
            StandardStream.output.write(Help.text(of: command))
            return .done
        })
}

/// `weft version`, also `weft --version`.
enum VersionCommand {
    static let entry = CommandEntry(
        name: "version",
        summary: "Show the version",
        details: "Shows the version of this program.",
        examples: [.init(line: "weft --version", meaning: "the same")],
        run: { _ in
            StandardStream.output.write("weft \(Version.number)\n")
            return .done
        })
}
