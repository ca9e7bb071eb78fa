internal import CFFmpeg
internal import Foundation
internal import Synchronization

/// Catches what libav would print to the terminal and keeps the last lines, so that an error can carry the codec's own words.
enum CodecLog {
    struct Line: Sendable {
        var context: UInt
        var thread: UInt
        var text: String
        /// Counts up by one a line.
        var number: UInt64
        /// More than a warning.
        var isError: Bool
    }

    private struct State {
        var lines: [Line] = []
        var count: UInt64 = 0
    }

    private static let capacity = 64
    private static let state = Mutex(State())

    /// Installed once, before the first call into libav.
    static let installed: Void = {
        av_log_set_level(AV_LOG_WARNING)
        av_log_set_callback { context, level, format, arguments in
            guard level <= AV_LOG_WARNING, let format, let arguments else { return }
            CodecLog.record(context, format, arguments, isError: level <= AV_LOG_ERROR)
        }
    }()

    private static var currentThread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }

    private static func record(
        _ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>, _ arguments: CVaListPointer, isError: Bool
    ) {
        var prefix: Int32 = 1
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer -> String in
            guard let base = buffer.baseAddress else { return "" }
            av_log_format_line2(context, AV_LOG_WARNING, format, arguments, base, Int32(buffer.count), &prefix)
            return String(cString: base)
        }
        let line = withoutAddress(text.split(whereSeparator: \.isNewline).joined(separator: " "))
        guard line.contains(where: { $0.isLetter }) else { return }
        state.withLock { state in
            if state.lines.count == capacity { state.lines.removeFirst() }
            state.lines.append(
                Line(
                    context: UInt(bitPattern: context), thread: currentThread, text: line, number: state.count,
                    isError: isError))
            state.count += 1
        }
    }

    /// libav puts the address of its context behind the name, which tells nobody anything: `[h264 @ 0x55d0]` becomes `[h264]`.
    private static func withoutAddress(_ line: String) -> String {
        guard line.hasPrefix("["), let close = line.firstIndex(of: "]"), let at = line.range(of: " @ 0x"),
            at.lowerBound < close
        else { return line }
        return String(line[..<at.lowerBound]) + String(line[close...])
    }

    /// The number of the next line: what is logged from now on is "since" it.
    static var mark: UInt64 { state.withLock { $0.count } }

    /// The last lines that `context` or the current thread logged since `mark`, oldest first, at most `count`.
    static func recentLines(of context: UnsafeRawPointer?, count: Int = 8, since mark: UInt64 = 0) -> [String] {
        let thread = currentThread
        let key = UInt(bitPattern: context)
        return state.withLock { state in
            state.lines.filter { $0.number >= mark && ($0.thread == thread || (key != 0 && $0.context == key)) }
                .suffix(count).map(\.text)
        }
    }

    /// The first error that `context` logged since `mark`.
    static func firstError(of context: UnsafeRawPointer, since mark: UInt64) -> String? {
        let key = UInt(bitPattern: context)
        return state.withLock { state in
            guard state.count > mark else { return nil }
            return state.lines.first { $0.number >= mark && $0.isError && $0.context == key }?.text
        }
    }
}
