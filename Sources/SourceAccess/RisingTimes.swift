/// The one rule for pictures whose time does not rise in presentation order: such a time becomes the last one plus a tick.
///
/// Whoever places pictures and whoever counts them apply the same rule, so that what was moved is not taken for lost.
package struct RisingTimes: Sendable {
    private var last: Int64?
    /// How many times were moved.
    package private(set) var moved = 0

    package init() {}

    /// - Parameter time: the next in presentation order.
    /// - Returns: a time above all before.
    package mutating func place(_ time: Int64) -> Int64 {
        var placed = time
        if let last, time <= last {
            placed = last &+ 1
            moved += 1
        }
        last = placed
        return placed
    }

    /// - Parameter times: sorted.
    package mutating func place(_ times: [Int64]) -> [Int64] { times.map { place($0) } }
}
