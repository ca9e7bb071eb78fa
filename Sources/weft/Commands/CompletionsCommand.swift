internal import ClusterProtocol

/// `weft completions SHELL`.
enum CompletionsCommand {
    static let entry = CommandEntry(
        name: "completions",
        summary: "Print a script that completes weft's words in a shell",
        details: "Prints a completion script for bash, zsh or fish on standard output.",
        operands: [
            OperandEntry(
                name: "SHELL", help: "bash, zsh or fish.",
                completion: .choices(Completions.Shell.allCases.map(\.rawValue)))
        ],
        examples: [
            .init(line: "eval \"$(weft completions bash)\"", meaning: "in ~/.bashrc"),
            .init(line: "weft completions fish > ~/.config/fish/completions/weft.fish", meaning: "for fish"),
        ],
        run: { invocation in
            guard let shell = Completions.Shell(rawValue: invocation.operands[0]) else {
                throw UsageError("completions", "'\(invocation.operands[0])' is no known shell.")
            }
            let presets = PresetLibrary(environment: invocation.environment).names
            StandardStream.output.write(Completions(presets: presets).script(for: shell))
            return .done
        })
}

/// `weft manual`.
enum ManualCommand {
    static let entry = CommandEntry(
        name: "manual",
        summary: "Print the man page",
        details: "Prints the man page weft(1) in roff on standard output.",
        examples: [.init(line: "weft manual | man -l -", meaning: "read it")],
        run: { _ in
            StandardStream.output.write(ManualPage.text)
            return .done
        })
}
