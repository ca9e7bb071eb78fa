internal import Foundation

/// Runs closures one after another on a thread of its own: what may block on the disk.
final class SerialThread: @unchecked Sendable {
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var work: [@Sendable () -> Void] = []
    private var isClosed = false
    private let ended = DispatchSemaphore(value: 0)

    init(name: String) {
        let thread = Thread { [self] in
            while let next = take() { next() }
            ended.signal()
        }
        thread.name = name
        thread.start()
    }

    func perform(_ body: @escaping @Sendable () -> Void) {
        condition.lock()
        if !isClosed { work.append(body) }
        condition.signal()
        condition.unlock()
    }

    private func take() -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        while work.isEmpty, !isClosed { condition.wait() }
        return work.isEmpty ? nil : work.removeFirst()
    }

    /// Finishes what was asked for and ends the thread. Call once, from another thread.
    func close() {
        condition.lock()
        isClosed = true
        condition.signal()
        condition.unlock()
        ended.wait()
    }
}
