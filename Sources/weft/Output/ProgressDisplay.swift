internal import Foundation

/// Shows an export's progress on standard error: on a terminal one line that is drawn again, else a plain line every few
/// seconds. Events may come from any thread and as often as they like; drawing has its own thread and pace.
final class ProgressDisplay: Sendable {
    private let stream: StandardStream
    private let style: TerminalStyle
    private let line: ProgressLine
    private let isQuiet: Bool
    private let interval: TimeInterval
    private let state = State()

    /// - Parameter isQuiet: nothing but notices is shown.
    init(
        stream: StandardStream = .error, style: TerminalStyle, isQuiet: Bool,
        plainInterval: TimeInterval = 5
    ) {
        self.stream = stream
        self.style = style
        self.isQuiet = isQuiet
        line = ProgressLine(isUnicode: style.isUnicode, isColoured: style.isColoured)
        interval = style.isLive ? 0.1 : plainInterval
    }

    /// Starts drawing; every start is paired with a `finish`.
    func start() {
        guard !isQuiet else { return }
        let thread = Thread { [self] in drawUntilFinished() }
        thread.name = "progress"
        state.locked { $0.isRunning = true }
        thread.start()
    }

    func handle(_ event: ExportEvent) {
        switch event {
        case .progress(let progress): state.locked { $0.latest = progress }
        case .notice(let text): notice(text)
        }
    }

    /// Prints a line of its own, above the bar.
    func notice(_ text: String) {
        state.locked { inner in
            erase(&inner)
            stream.write("weft: \(TextTable.printable(text))\n")
        }
    }

    /// Takes the bar away and waits for the drawing thread.
    func finish() {
        state.condition.lock()
        state.inner.isFinished = true
        state.condition.broadcast()
        while state.inner.isRunning { state.condition.wait() }
        erase(&state.inner)
        state.condition.unlock()
    }

    private func drawUntilFinished() {
        let condition = state.condition
        condition.lock()
        var next = Date().addingTimeInterval(interval)
        while !state.inner.isFinished {
            if condition.wait(until: next) { continue }
            draw(&state.inner)
            next = Date().addingTimeInterval(interval)
        }
        state.inner.isRunning = false
        condition.broadcast()
        condition.unlock()
    }

    private func draw(_ inner: inout Inner) {
        guard let latest = inner.latest else { return }
        guard style.isLive else {
            if inner.shown != latest { stream.write(line.sentence(latest)) }
            inner.shown = latest
            return
        }
        let width = stream.width ?? 80
        let text = line.bar(latest, width: width)
        // Over the old line rather than after erasing it, which would flicker.
        let begin = inner.columns > width ? Self.eraser(columns: inner.columns, width: width) : "\r"
        stream.write(begin + text + "\u{1B}[K")
        inner.columns = Self.columns(of: text)
        Interruption.lineIsOpen(true)
    }

    private func erase(_ inner: inout Inner) {
        guard inner.columns > 0 else { return }
        stream.write(Self.eraser(columns: inner.columns, width: stream.width ?? 80))
        inner.columns = 0
        Interruption.lineIsOpen(false)
    }

    /// Back to where the line began. A terminal that became narrower has wrapped what was drawn for its old width.
    static func eraser(columns: Int, width: Int) -> String {
        let wrapped = columns > width ? (columns - 1) / max(width, 1) : 0
        return "\r" + (wrapped > 0 ? "\u{1B}[\(wrapped)A" : "") + "\u{1B}[J"
    }

    /// Columns that a text takes: escape sequences take none.
    static func columns(of text: String) -> Int {
        var count = 0
        var isEscape = false
        for character in text {
            if character == "\u{1B}" {
                isEscape = true
            } else if isEscape {
                if character.isLetter { isEscape = false }
            } else {
                count += 1
            }
        }
        return count
    }
}

extension ProgressDisplay {
    private struct Inner {
        var latest: ExportProgress?
        var shown: ExportProgress?
        /// Columns of the line that stands on the terminal, 0 when none does.
        var columns = 0
        var isRunning = false
        var isFinished = false
    }

    /// Guarded by its condition.
    private final class State: @unchecked Sendable {
        let condition = NSCondition()
        var inner = Inner()

        func locked(_ body: (inout Inner) -> Void) {
            condition.lock()
            body(&inner)
            condition.unlock()
        }
    }
}
