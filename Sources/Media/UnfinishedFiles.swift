internal import Foundation
internal import Synchronization

/// Names of the temporary files that exist now, kept so that a signal handler can remove them: a process that ends at once runs no
/// `deinit`. The memory is fixed, and a name is whole before its bit is set.
package enum UnfinishedFiles {
    private static let capacity = 32
    private static let length = 4096
    /// Places with a name.
    private static let noted = Atomic<UInt32>(0)
    /// Places given out, with or without a name yet.
    private static let taken = Mutex<UInt32>(0)
    // Written only by who holds the place, before its bit in `noted` is set.
    private nonisolated(unsafe) static let names = UnsafeMutablePointer<CChar>.allocate(capacity: capacity * length)

    /// To be called once before `removeAll` may be, which must not be the first to touch what is above.
    package static func prepare() {
        names[0] = 0
        _ = noted.load(ordering: .relaxed)
    }

    /// - Returns: `nil` where the name is too long or too many are noted; such a file is not removed.
    static func note(_ path: String) -> Int? {
        let bytes = Array(path.utf8CString)
        guard bytes.count <= length else { return nil }
        let place = taken.withLock { taken -> Int? in
            let free = (~taken).trailingZeroBitCount
            guard free < capacity else { return nil }
            taken |= 1 << UInt32(free)
            return free
        }
        guard let place else { return nil }
        (names + place * length).update(from: bytes, count: bytes.count)
        noted.bitwiseOr(1 << UInt32(place), ordering: .releasing)
        return place
    }

    static func forget(_ place: Int) {
        noted.bitwiseAnd(~(1 << UInt32(place)), ordering: .releasing)
        taken.withLock { $0 &= ~(1 << UInt32(place)) }
    }

    /// Removes them all; calls nothing but unlink(2), which a signal handler may (signal-safety(7)).
    package static func removeAll() {
        let noted = noted.load(ordering: .acquiring)
        for place in 0..<capacity where noted & (1 << UInt32(place)) != 0 { unlink(names + place * length) }
    }
}
