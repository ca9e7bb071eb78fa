/// What a stream can show: decided once from the terminal and the environment.
struct TerminalStyle: Hashable, Sendable {
    /// Whether the cursor can be moved, so that a line can be drawn again.
    var isLive: Bool
    var isColoured: Bool
    var isUnicode: Bool

    /// Honours `NO_COLOR` (no-color.org) and `TERM=dumb`.
    init(isTerminal: Bool, environment: [String: String]) {
        let isDumb = environment["TERM"] == "dumb" || (environment["TERM"] ?? "").isEmpty
        isLive = isTerminal && !isDumb
        isColoured = isLive && (environment["NO_COLOR"] ?? "").isEmpty
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        isUnicode = locale.uppercased().contains("UTF-8") || locale.uppercased().contains("UTF8")
    }

    func bold(_ text: String) -> String { isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func dim(_ text: String) -> String { isColoured ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
    func red(_ text: String) -> String { isColoured ? "\u{1B}[1;31m\(text)\u{1B}[0m" : text }
    func yellow(_ text: String) -> String { isColoured ? "\u{1B}[33m\(text)\u{1B}[0m" : text }
}
