internal import ClusterProtocol

/// The man page weft(1), from the option table, in the man macros of roff.
enum ManualPage {
    static var text: String {
        var page = [
            ".TH WEFT 1 \"\" \"weft \(Version.number)\" \"User Commands\"",
            ".SH NAME",
            "weft \\- export long videos in segments, and prove that nothing is missing",
            ".SH SYNOPSIS",
            ".B weft",
            ".I COMMAND",
            "[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]",
            ".SH DESCRIPTION",
            escape(
                """
                weft splits a video at its keyframes into segments, encodes them on several slots, and stitches the samples \
                into one file. Every source frame appears once in the output, at its own exact time; audio is never cut at a \
                segment border; the result is the same for any number of slots.
                """),
            ".SH COMMANDS",
        ]
        for command in OptionTable.shownCommands { page += section(of: command) }
        page += settings + exitCodes + files
        return page.joined(separator: "\n") + "\n"
    }

    private static func section(of command: CommandEntry) -> [String] {
        var lines = [".SS \(escape(Help.usage(of: command)))"]
        for (number, paragraph) in command.details.split(separator: "\n").enumerated() {
            if number > 0 { lines.append(".PP") }
            lines.append(escape(String(paragraph)))
        }
        for operand in command.operands {
            lines += [".TP", "\\fI\(escape(operand.name))\\fR", escape(operand.help)]
        }
        for option in command.allOptions where !option.isHidden {
            let value = option.value.map { " \\fI\(escape($0))\\fR" } ?? ""
            let letter = option.letter.map { "\\fB\\-\($0)\\fR, " } ?? ""
            lines += [".TP", "\(letter)\\fB\(escape("--" + option.name))\\fR\(value)", escape(option.help)]
        }
        for example in command.examples {
            lines += [
                ".PP", "Example, \(escape(example.meaning)):", ".PP", ".nf", escape("    " + example.line), ".fi",
            ]
        }
        return lines
    }

    private static var settings: [String] {
        [
            ".SH SETTINGS",
            escape(
                """
                Every option that is a setting can also be stated in a variable (--audio-bitrate is WEFT_AUDIO_BITRATE) or in \
                a JSON5 file (audio_bitrate; encoder_options is an object). Options beat variables, variables beat the \
                configuration file, and that beats the preset. WEFT_PRESETS lists more directories of presets, separated \
                by colons.
                """),
        ]
    }

    private static var exitCodes: [String] {
        var lines = [".SH EXIT STATUS"]
        for code in ExitCode.allCases { lines += [".TP", ".B \(code.rawValue)", escape(code.meaning)] }
        return lines
    }

    private static var files: [String] {
        [
            ".SH FILES", ".TP", "\\fI$XDG_CONFIG_HOME/weft/config.json5\\fR", "Settings of the user.",
            ".TP", "\\fI$XDG_CONFIG_HOME/weft/presets/\\fR", "Presets of the user.",
            ".TP", "\\fI$XDG_STATE_HOME/weft/\\fR",
            "Unfinished work. A finished export leaves nothing there.",
        ]
    }

    /// A backslash, a hyphen that is meant as one, and a dot or quote at the start of a line mean something to roff;
    /// characters outside ASCII are written by their code point, since roff does not read UTF-8 by itself.
    static func escape(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\\": "\\e"
            case "-": "\\-"
            case _ where !scalar.isASCII: "\\[u\(hexadecimal(scalar.value))]"
            default: String(scalar)
            }
        }.joined()
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension ExitCode {
    var meaning: String {
        switch self {
        case .done: "Done."
        case .jobFailed: "The job failed, or a comparison does not hold."
        case .usage: "The command line cannot be understood."
        case .badSource: "Bad source data."
        case .noSource: "No such source."
        case .unreachable: "The coordinator cannot be reached."
        case .cannotCreate: "The output cannot be created."
        case .ioError: "Reading or writing failed."
        case .temporary: "A temporary failure: try again."
        case .notPermitted: "Not permitted."
        case .badConfiguration: "Bad configuration, variable or preset."
        case .interrupted: "Interrupted."
        }
    }
}
