/// A set in ascending order, kept in blocks: insertion, removal and neighbour look-up cost a binary search over the blocks
/// and a move of part of one block. It serves as priority queue (with removal of any element) and as ordered list, and
/// its behaviour depends on nothing but its contents, unlike a hashed collection, whose order differs from run to run.
package struct OrderedSet<Element: Comparable & Sendable>: Sendable, Sequence {
    // Blocks are never empty, and every element of a block is below every element of the next.
    private var blocks: [[Element]] = []
    package private(set) var count = 0

    private static var blockLimit: Int { 128 }

    package init() {}

    package var isEmpty: Bool { count == 0 }
    package var first: Element? { blocks.first?.first }
    package var last: Element? { blocks.last?.last }

    /// - Returns: `false` where it was there already.
    @discardableResult
    package mutating func insert(_ element: Element) -> Bool {
        guard !blocks.isEmpty else {
            blocks = [[element]]
            count = 1
            return true
        }
        let block = Swift.min(blockIndex(notBelow: element), blocks.count - 1)
        let place = place(notBelow: element, in: block)
        if place < blocks[block].count, blocks[block][place] == element { return false }
        blocks[block].insert(element, at: place)
        count += 1
        if blocks[block].count > Self.blockLimit { split(block) }
        return true
    }

    /// - Returns: `false` where it was not there.
    @discardableResult
    package mutating func remove(_ element: Element) -> Bool {
        let block = blockIndex(notBelow: element)
        guard block < blocks.count else { return false }
        let place = place(notBelow: element, in: block)
        guard place < blocks[block].count, blocks[block][place] == element else { return false }
        blocks[block].remove(at: place)
        count -= 1
        if blocks[block].isEmpty { blocks.remove(at: block) }
        return true
    }

    package mutating func popFirst() -> Element? {
        guard let first else { return nil }
        remove(first)
        return first
    }

    package func contains(_ element: Element) -> Bool { first(notBelow: element) == element }

    /// The lowest element that is at least `bound`.
    package func first(notBelow bound: Element) -> Element? {
        let block = blockIndex(notBelow: bound)
        guard block < blocks.count else { return nil }
        return blocks[block][place(notBelow: bound, in: block)]
    }

    /// The lowest element above `bound`.
    package func first(above bound: Element) -> Element? {
        guard let found = first(notBelow: bound) else { return nil }
        if found != bound { return found }
        let block = blockIndex(notBelow: bound)
        let place = place(notBelow: bound, in: block) + 1
        if place < blocks[block].count { return blocks[block][place] }
        return block + 1 < blocks.count ? blocks[block + 1].first : nil
    }

    /// The highest element below `bound`.
    package func last(below bound: Element) -> Element? {
        let block = blockIndex(notBelow: bound)
        guard block < blocks.count else { return last }
        let place = place(notBelow: bound, in: block)
        if place > 0 { return blocks[block][place - 1] }
        return block > 0 ? blocks[block - 1].last : nil
    }

    package struct Iterator: IteratorProtocol {
        fileprivate let blocks: [[Element]]
        fileprivate var block = 0
        fileprivate var place = 0

        package mutating func next() -> Element? {
            guard block < blocks.count else { return nil }
            let element = blocks[block][place]
            place += 1
            if place == blocks[block].count { (block, place) = (block + 1, 0) }
            return element
        }
    }

    package func makeIterator() -> Iterator { Iterator(blocks: blocks) }

    /// The first block whose highest element is at least `element`; `blocks.count` where there is none.
    private func blockIndex(notBelow element: Element) -> Int {
        var (low, high) = (0, blocks.count)
        while low < high {
            let middle = (low + high) / 2
            let block = blocks[middle]
            if block[block.count - 1] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func place(notBelow element: Element, in block: Int) -> Int {
        var (low, high) = (0, blocks[block].count)
        while low < high {
            let middle = (low + high) / 2
            if blocks[block][middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func split(_ block: Int) {
        let half = blocks[block].count / 2
        let upper = Array(blocks[block][half...])
        blocks[block].removeLast(blocks[block].count - half)
        blocks.insert(upper, at: block + 1)
    }
}
