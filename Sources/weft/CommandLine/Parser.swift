internal import CGetopt
internal import Foundation
internal import Synchronization

/// A command line taken apart by the option table; values are still text.
struct Invocation: Sendable {
    let command: CommandEntry
    var operands: [String] = []
    /// Option name to values in the order given; a flag has one empty value.
    var options: [String: [String]] = [:]
    var environment: [String: String] = [:]

    func has(_ option: String) -> Bool { options[option] != nil }

    /// The last value given, as with most programs.
    func value(of option: String) -> String? { options[option]?.last }
}

/// Turns words into an `Invocation` with the C library's getopt_long, so that `--name value`, `--name=value`,
/// unambiguous abbreviations, bundled letters and `--` behave as everywhere else.
enum Parser {
    /// - Parameter arguments: the words after the program's name.
    /// - Throws: `UsageError`.
    static func parse(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws(UsageError) -> Invocation {
        guard let first = arguments.first else {
            throw UsageError(nil, "a command is missing: \(commandNames.joined(separator: ", ")).")
        }
        let rest = Array(arguments.dropFirst())
        switch first {
        case "--help", "-h": return try parse(["help"] + rest, environment: environment)
        case "--version", "-V": return try parse(["version"] + rest, environment: environment)
        default: break
        }
        if first.hasPrefix("-") {
            throw UsageError(nil, "a command comes first, then its options; '\(first)' is none.")
        }
        guard let command = OptionTable.command(named: first) else {
            throw UsageError(
                nil, "there is no command '\(first)'.\(Suggestion.sentence(for: first, among: commandNames))")
        }
        var invocation = try takeApart(rest, for: command)
        invocation.environment = environment
        if !invocation.has("help") { try checkOperands(of: invocation) }
        return invocation
    }

    private static var commandNames: [String] { OptionTable.shownCommands.map(\.name) }

    private static func checkOperands(of invocation: Invocation) throws(UsageError) {
        let command = invocation.command
        let needed = command.operands.filter { !$0.isOptional }
        if invocation.operands.count < needed.count {
            let missing = needed[invocation.operands.count...].map(\.name)
            let verb = missing.count == 1 ? "is" : "are"
            throw UsageError(command.name, "\(missing.joined(separator: " and ")) \(verb) missing.")
        }
        if invocation.operands.count > command.operands.count {
            let extra = invocation.operands[command.operands.count]
            throw UsageError(command.name, "'\(extra)' is one argument too many.")
        }
        for (operand, text) in zip(command.operands, invocation.operands) {
            guard !text.isEmpty else { throw UsageError(command.name, "\(operand.name) is empty.") }
            if case .choices(let words) = operand.completion, !words.contains(text) {
                throw UsageError(
                    command.name, "'\(text)' is not one of \(words.joined(separator: ", ")).")
            }
        }
    }
}

// MARK: - getopt_long

extension Parser {
    /// getopt_long keeps its place in global variables.
    private static let getoptState = Mutex(())

    /// Codes of long options start above every letter.
    private static let firstCode: Int32 = 256

    private static func takeApart(_ words: [String], for command: CommandEntry) throws(UsageError) -> Invocation {
        let result = getoptState.withLock { _ in
            Result<Invocation, UsageError> { () throws(UsageError) in
                try getopt(words, for: command)
            }
        }
        return try result.get()
    }

    private static func getopt(_ words: [String], for command: CommandEntry) throws(UsageError) -> Invocation {
        let options = command.allOptions
        let arguments = CStrings(["weft \(command.name)"] + words)
        let names = CStrings(options.map(\.name))
        var long = options.indices.map { index in
            option(
                name: names.pointers[index], has_arg: options[index].value == nil ? no_argument : required_argument,
                flag: nil, val: firstCode + Int32(index))
        }
        long.append(option(name: nil, has_arg: 0, flag: nil, val: 0))
        // "-": operands come back as code 1, in their place, whatever POSIXLY_CORRECT says. ":": a missing value is told
        // apart from an unknown option, and nothing is printed.
        let letters = options.compactMap { entry in entry.letter.map { "\($0)" + (entry.value == nil ? "" : ":") } }
        let short = "-:" + letters.joined()
        weft_getopt_restart()

        var invocation = Invocation(command: command)
        let count = Int32(arguments.pointers.count - 1)
        while true {
            let code = weft_getopt_next(count, arguments.pointers, short, long)
            if code == -1 { break }
            let value = weft_getopt_value().map { String(cString: $0) }
            switch code {
            case 1:
                invocation.operands.append(value ?? "")
            case Int32(UInt8(ascii: "?")), Int32(UInt8(ascii: ":")):
                throw complaint(
                    code, last: arguments.text(at: Int(weft_getopt_index()) - 1), options: options, command: command)
            default:
                guard let entry = entry(for: code, among: options) else { continue }
                try store(value, for: entry, in: &invocation)
            }
        }
        let next = Int(weft_getopt_index())
        for index in next..<max(next, Int(count)) {
            invocation.operands.append(arguments.text(at: index))
        }
        return invocation
    }

    private static func entry(for code: Int32, among options: [OptionEntry]) -> OptionEntry? {
        if code >= firstCode { return options[Int(code - firstCode)] }
        return options.first { $0.letter.flatMap(\.asciiValue).map(Int32.init) == code }
    }

    private static func store(
        _ value: String?, for entry: OptionEntry, in invocation: inout Invocation
    ) throws(UsageError) {
        if let value, let choices = entry.choices, !choices.contains(value) {
            throw UsageError(
                invocation.command.name,
                "--\(entry.name) is one of \(choices.joined(separator: ", ")); '\(value)' is not."
                    + Suggestion.sentence(for: value, among: choices))
        }
        if entry.isRepeatable {
            invocation.options[entry.name, default: []].append(value ?? "")
        } else {
            invocation.options[entry.name] = [value ?? ""]
        }
    }

    /// Why getopt_long stopped, in a sentence.
    private static func complaint(
        _ code: Int32, last word: String, options: [OptionEntry], command: CommandEntry
    ) -> UsageError {
        let offender = weft_getopt_offender()
        let known = entry(for: offender, among: options)
        if code == Int32(UInt8(ascii: ":")), let known {
            return UsageError(command.name, "--\(known.name) needs a value: --\(known.name) \(known.value ?? "").")
        }
        if offender >= firstCode, let known {
            return UsageError(command.name, "--\(known.name) takes no value.")
        }
        if offender > 0, offender < 128, let scalar = Unicode.Scalar(UInt32(offender)) {
            return UsageError(command.name, "unknown option '-\(Character(scalar))'.")
        }
        let name = String(word.drop { $0 == "-" }.prefix { $0 != "=" })
        let shown = options.filter { !$0.isHidden }.map(\.name)
        let abbreviated = shown.filter { $0.hasPrefix(name) }
        if abbreviated.count > 1 {
            let words = abbreviated.map { "--\($0)" }.joined(separator: ", ")
            return UsageError(command.name, "'--\(name)' could be \(words).")
        }
        let suggestion = Suggestion.sentence(for: name, among: shown, prefix: "--")
        return UsageError(command.name, "unknown option '--\(name)'.\(suggestion)")
    }
}

/// Words as C wants an argv: terminated strings and a terminated array, freed at the end.
private final class CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ words: [String]) {
        pointers = words.map { strdup($0) } + [nil]
    }

    deinit {
        for pointer in pointers { free(pointer) }
    }

    func text(at index: Int) -> String {
        guard pointers.indices.contains(index), let pointer = pointers[index] else { return "" }
        return String(cString: pointer)
    }
}
