internal import Foundation

/// Hands values from one thread to one other, at most `capacity` at a time.
final class BoundedQueue<Element: Sendable>: Sendable {
    private let condition = NSCondition()
    /// Guarded by `condition`.
    private nonisolated(unsafe) var elements: [Element] = []
    private nonisolated(unsafe) var isClosed = false
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// Waits for room.
    /// - Returns: `false` when the other side has closed the queue.
    func push(_ element: Element) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while elements.count >= capacity, !isClosed { condition.wait() }
        guard !isClosed else { return false }
        elements.append(element)
        condition.broadcast()
        return true
    }

    /// Waits for an element.
    /// - Returns: `nil` when the queue is closed and empty.
    func pop() -> Element? {
        condition.lock()
        defer { condition.unlock() }
        while elements.isEmpty, !isClosed { condition.wait() }
        guard !elements.isEmpty else { return nil }
        defer { condition.broadcast() }
        return elements.removeFirst()
    }

    /// No more elements: those inside can still be taken.
    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// No more elements, and those inside are dropped.
    func abandon() {
        condition.lock()
        isClosed = true
        elements.removeAll()
        condition.broadcast()
        condition.unlock()
    }
}
