import Testing

@testable import SourceAccess

@Suite struct RisingTimesTests {
    @Test("Times that rise are left alone")
    func rising() {
        var rule = RisingTimes()
        #expect(rule.place([-3, 0, 1, 9]) == [-3, 0, 1, 9])
        #expect(rule.moved == 0)
    }

    @Test("A time that does not rise becomes the last one plus a tick, and so do those it then meets")
    func repeated() {
        var rule = RisingTimes()
        #expect(rule.place([10, 10, 10, 11, 20]) == [10, 11, 12, 13, 20])
        #expect(rule.moved == 3)
    }

    @Test("What the rule gave rises strictly, and the rule leaves it alone")
    func idempotent() {
        var state: UInt64 = 1
        func number() -> Int64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64(state >> 33) % 61
        }
        for _ in 0..<200 {
            let times = (0..<50).map { _ in number() }.sorted()
            var first = RisingTimes()
            var second = RisingTimes()
            let placed = first.place(times)
            #expect(zip(placed, placed.dropFirst()).allSatisfy { $0 < $1 })
            #expect(second.place(placed) == placed)
        }
    }
}
