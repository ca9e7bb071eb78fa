import Support
internal import Testing
@testable internal import Verification

@Suite("Comparison of time lines")
struct TimelineComparisonTests {
    private func compare(_ expected: [Int128], _ found: [Int128], tolerance: Int128 = 0) -> TimelineComparison {
        .whole(expected: expected, found: found, shift: 0, tolerance: tolerance, reach: 500)
    }

    private let line: [Int128] = (0..<100).map { Int128($0) * 40 }

    @Test("equal lines agree, and rounding within the tolerance is no error beyond it")
    func equal() {
        let exact = compare(line, line)
        #expect(exact.missing.count == 0 && exact.surplus.count == 0 && exact.largestError == 0)
        let rounded = compare(line, line.enumerated().map { $1 + Int128($0 % 3) - 1 }, tolerance: 1)
        #expect(rounded.missing.count == 0 && rounded.surplus.count == 0 && rounded.moved.count == 0)
        #expect(rounded.largestError == 1)
    }

    @Test("frames at one time, closer than the tolerance, stay as many as they are")
    func collisions() {
        let result = compare([0, 1, 80, 81], [0, 0, 80, 80], tolerance: 1)
        #expect(result.missing.count == 0 && result.surplus.count == 0)
        #expect(compare([0, 1, 80, 81], [0, 80, 80], tolerance: 1).missing.count == 1)
    }

    @Test("a moved frame is neither missing nor twice")
    func moved() {
        var found = line
        found[50] += 7
        let result = compare(line, found)
        #expect(result.missing.count == 0 && result.surplus.count == 0)
        #expect(result.moved.examples == [2000] && result.largestError == 7)
    }

    @Test("any frames dropped and doubled are counted exactly", arguments: 0..<200 as Range<UInt64>)
    func random(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var expected: [Int128] = []
        var time: Int128 = 0
        for _ in 0..<Int.random(in: 2...80, using: &generator) {
            expected.append(time)
            time += Int128(Int.random(in: 10...60, using: &generator))
        }
        var found: [Int128] = []
        var dropped = 0
        var doubled = 0
        for time in expected {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: dropped += 1
            case 1:
                doubled += 1
                found += [time, time]
            default: found.append(time)
            }
        }
        let result = compare(expected, found)
        #expect(result.missing.count == dropped)
        #expect(result.surplus.count == doubled)
        #expect(result.moved.count == 0)
        #expect(result.expected == expected.count && result.found == found.count)
    }
}
