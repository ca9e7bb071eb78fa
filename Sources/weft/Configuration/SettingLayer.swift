internal import Foundation

/// Where a setting was stated.
enum SettingOrigin: Hashable, Sendable {
    case flag
    case variable(String)
    case file(String, key: String)
}

/// What one place (the command line, the environment, a file) states, still as text.
struct SettingLayer: Sendable {
    /// Option name to values; a flag has one empty value.
    var values: [String: [String]] = [:]
    /// How a message names where the option was stated.
    var origins: [String: SettingOrigin] = [:]

    /// An error about an option that this layer states, with the exit code that fits the place: 64 for the command
    /// line, 78 for variables and files.
    func complaint(_ option: String, _ message: String, command: String) -> any Error {
        // "--end is not after --start", but "--end: 'soon' is not a time".
        let joint = message.hasPrefix("'") ? ": " : " "
        return switch origins[option] ?? .flag {
        case .flag: UsageError(command, "--\(option)\(joint)\(message)")
        case .variable(let name): ConfigurationError(place: "variable \(name)", message: message)
        case .file(let path, let key): ConfigurationError(place: path, message: key + joint + message)
        }
    }
}

/// A variable or a configuration file that cannot be used. Ends with exit code 78.
struct ConfigurationError: Error, Hashable, Sendable {
    var place: String
    var message: String

    var text: String { "weft: \(place): \(message)\n" }
}

extension SettingLayer {
    /// The options of the command line that are settings.
    init(flagsOf invocation: Invocation) {
        for option in invocation.command.options where option.isSetting {
            guard let values = invocation.options[option.name] else { continue }
            self.values[option.name] = values
            origins[option.name] = .flag
        }
    }

    /// The command's settings among the `WEFT_…` variables. An empty variable states nothing.
    init(variables: [String: String], for command: CommandEntry) throws {
        for option in command.options where option.isSetting {
            guard let text = variables[option.variable], !text.isEmpty else { continue }
            origins[option.name] = .variable(option.variable)
            if option.value == nil {
                guard let isOn = Self.truth(text) else {
                    throw complaint(option.name, "'\(text)' is neither 1 nor 0.", command: command.name)
                }
                if isOn { values[option.name] = [""] }
            } else if option.isRepeatable {
                values[option.name] = text.split(whereSeparator: \.isWhitespace).map(String.init)
            } else {
                values[option.name] = [text]
            }
        }
        try checkChoices(for: command)
    }

    /// Refuses what is not among an option's choices.
    func checkChoices(for command: CommandEntry) throws {
        for option in command.options {
            guard let choices = option.choices, let value = values[option.name]?.last, !choices.contains(value) else {
                continue
            }
            let suggestion = Suggestion.sentence(for: value, among: choices)
            throw complaint(
                option.name, "'\(value)' is not one of \(choices.joined(separator: ", ")).\(suggestion)",
                command: command.name)
        }
    }

    private static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "true", "yes", "on": true
        case "0", "false", "no", "off": false
        default: nil
        }
    }
}
