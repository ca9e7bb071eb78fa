/// What will happen in virtual time, earliest first and then in the order it was planned.
struct EventQueue<Item> {
    private var heap: [(at: Int64, order: Int, item: Item)] = []
    private var planned = 0

    var isEmpty: Bool { heap.isEmpty }
    var nextTime: Int64? { heap.first?.at }

    mutating func plan(_ item: Item, at time: Int64) {
        heap.append((time, planned, item))
        planned += 1
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> (at: Int64, item: Item)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.at, first.item)
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
                least = child
            }
            if least == parent { return }
            heap.swapAt(least, parent)
            parent = least
        }
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        heap[a].at != heap[b].at ? heap[a].at < heap[b].at : heap[a].order < heap[b].order
    }
}
