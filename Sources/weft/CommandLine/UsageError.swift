/// A command line that cannot be understood. Ends with exit code 64.
struct UsageError: Error, Hashable, Sendable {
    /// The command whose help to point at; `nil` for the whole program.
    var command: String?
    /// One sentence that names the offending word.
    var message: String

    init(_ command: String?, _ message: String) {
        self.command = command
        self.message = message
    }

    var text: String {
        let program = command.map { "weft \($0)" } ?? "weft"
        return "\(program): \(message)\nTry '\(program) --help'.\n"
    }
}
