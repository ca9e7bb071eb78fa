/// Completion scripts, from the option table.
struct Completions: Sendable {
    enum Shell: String, Sendable, CaseIterable {
        case bash, zsh, fish
    }

    /// Names of the presets there are now.
    var presets: [String]

    func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    private var commands: [CommandEntry] { OptionTable.shownCommands }

    private func options(of command: CommandEntry) -> [OptionEntry] {
        command.allOptions.filter { !$0.isHidden }
    }

    private func words(_ completion: OptionEntry.Completion) -> [String]? {
        switch completion {
        case .choices(let words), .suggestions(let words): words
        case .presets: presets
        case .nothing, .file, .directory: nil
        }
    }
}

// MARK: - bash

extension Completions {
    private var bash: String {
        let names = commands.map(\.name).joined(separator: " ")
        let cases = commands.map(bashCase).joined()
        return """
            # bash completion for weft. Use: eval "$(weft completions bash)"
            _weft() {
                local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    COMPREPLY=($(compgen -W "\(names) --help --version" -- "$word"))
                    return
                fi
                case "$command" in
            \(cases)    esac
            }
            complete -o filenames -F _weft weft

            """
    }

    private func bashCase(_ command: CommandEntry) -> String {
        let options = options(of: command)
        var text = "    \(command.name))\n        case \"$previous\" in\n"
        for option in options where option.value != nil {
            let pattern = (option.letter.map { "-\($0)|" } ?? "") + "--\(option.name)"
            text += "        \(pattern)) \(bashReply(option.completion)); return ;;\n"
        }
        text += "        esac\n"
        let flags = options.map { "--\($0.name)" }.joined(separator: " ")
        text += "        case \"$word\" in -*) COMPREPLY=($(compgen -W \"\(flags)\" -- \"$word\")); return ;; esac\n"
        let operand = command.operands.first?.completion ?? .nothing
        let reply = command.name == "help" ? bashReply(.suggestions(commands.map(\.name))) : bashReply(operand)
        return text + "        \(reply) ;;\n"
    }

    private func bashReply(_ completion: OptionEntry.Completion) -> String {
        if let words = words(completion) {
            return "COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$word\"))"
        }
        return switch completion {
        case .file: "COMPREPLY=($(compgen -f -- \"$word\"))"
        case .directory: "COMPREPLY=($(compgen -d -- \"$word\"))"
        default: ":"
        }
    }
}

// MARK: - zsh

extension Completions {
    private var zsh: String {
        let list = commands.map { "        \(quoted("\($0.name):\($0.summary)"))\n" }.joined()
        let cases = commands.map(zshCase).joined()
        return """
            #compdef weft
            # zsh completion for weft. Use: eval "$(weft completions zsh)", or as _weft in a directory of fpath.
            _weft() {
                local -a commands
                commands=(
            \(list)    )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                local command=$words[2]
                shift words
                (( CURRENT -= 1 ))
                case $command in
            \(cases)    esac
            }
            if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _weft "$@"; else compdef _weft weft; fi

            """
    }

    private func zshCase(_ command: CommandEntry) -> String {
        var specs: [String] = []
        for option in options(of: command) {
            let help = option.help.map { "[]:\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
            let value = option.value.map { ":\($0.lowercased()):\(zshAction(option.completion))" } ?? ""
            let repeats = option.isRepeatable ? "*" : ""
            specs.append(quoted("\(repeats)--\(option.name)[\(help)]\(value)"))
            if let letter = option.letter { specs.append(quoted("\(repeats)-\(letter)[\(help)]\(value)")) }
        }
        for operand in command.operands {
            let completion =
                command.name == "help" ? OptionEntry.Completion.suggestions(commands.map(\.name)) : operand.completion
            specs.append(quoted("\(operand.isOptional ? ":" : "")\(":")\(operand.name):\(zshAction(completion))"))
        }
        let lines = specs.joined(separator: " \\\n            ")
        return "    \(command.name))\n        _arguments \\\n            \(lines) ;;\n"
    }

    private func zshAction(_ completion: OptionEntry.Completion) -> String {
        if let words = words(completion) { return "(\(words.joined(separator: " ")))" }
        return switch completion {
        case .file: "_files"
        case .directory: "_files -/"
        default: " "
        }
    }

    /// In single quotes, which neither zsh nor fish looks into but for the quote itself.
    private func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

// MARK: - fish

extension Completions {
    private var fish: String {
        var lines = ["# fish completion for weft. Use: weft completions fish > ~/.config/fish/completions/weft.fish"]
        for command in commands {
            lines.append(
                "complete -c weft -n __fish_use_subcommand -f -a \(command.name) -d \(quoted(command.summary))")
            let condition = "-n \(quoted("__fish_seen_subcommand_from \(command.name)"))"
            for option in options(of: command) {
                var line = "complete -c weft \(condition) -l \(option.name)"
                if let letter = option.letter { line += " -s \(letter)" }
                if option.value != nil { line += " " + fishValue(option.completion) }
                lines.append(line + " -d \(quoted(option.help))")
            }
            let operand = command.operands.first?.completion ?? .nothing
            if let words = command.name == "help" ? commands.map(\.name) : words(operand) {
                lines.append("complete -c weft \(condition) -f -a \(quoted(words.joined(separator: " ")))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func fishValue(_ completion: OptionEntry.Completion) -> String {
        if let words = words(completion) { return "-x -a \(quoted(words.joined(separator: " ")))" }
        return switch completion {
        case .file: "-r -F"
        case .directory: "-x -a '(__fish_complete_directories)'"
        default: "-x"
        }
    }
}
