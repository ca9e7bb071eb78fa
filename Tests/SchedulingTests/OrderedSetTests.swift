import Scheduling
import Testing

@Suite("Ordered set") struct OrderedSetTests {
    @Test("It agrees with a sorted array through thousands of changes", arguments: [1, 2, 3] as [UInt64])
    func agrees(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var set = OrderedSet<Int>()
        var model: Set<Int> = []
        for _ in 0..<6000 {
            let element = random.below(1500)
            if random.chance(0.6) {
                #expect(set.insert(element) == model.insert(element).inserted)
            } else {
                #expect(set.remove(element) == (model.remove(element) != nil))
            }
            #expect(set.count == model.count)
        }
        let sorted = model.sorted()
        #expect(Array(set) == sorted)
        #expect(set.first == sorted.first && set.last == sorted.last)
        for bound in stride(from: -1, through: 1501, by: 7) {
            #expect(set.first(notBelow: bound) == sorted.first { $0 >= bound })
            #expect(set.first(above: bound) == sorted.first { $0 > bound })
            #expect(set.last(below: bound) == sorted.last { $0 < bound })
            #expect(set.contains(bound) == model.contains(bound))
        }
        var drained: [Int] = []
        while let first = set.popFirst() { drained.append(first) }
        #expect(drained == sorted && set.isEmpty)
    }
}

@Suite("Instants") struct InstantTests {
    @Test("Sums saturate instead of trapping") func saturates() {
        #expect(Instant(nanoseconds: .max) + Interval(nanoseconds: 1) == .never)
        #expect(Instant(nanoseconds: .min) - Instant(nanoseconds: .max) == Interval(nanoseconds: .min))
        #expect(Interval(seconds: 1e300).nanoseconds == .max)
        #expect(Interval(seconds: .nan) == .zero)
        #expect(Instant(seconds: 1.5).nanoseconds == 1_500_000_000)
    }
}
