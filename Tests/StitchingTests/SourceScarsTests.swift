import Testing

@testable import Stitching

@Suite("Damage of the container")
struct SourceScarsTests {
    /// Pictures every 40 ticks, of which some are not there.
    private func times(without gone: ClosedRange<Int64>) -> [Int64] {
        (0..<50).map { Int64($0) * 40 }.filter { !gone.contains($0) }
    }

    @Test("A hole in the times is named where the container is damaged, and only there")
    func holes() {
        var scars = SourceScars()
        let times = times(without: 800...1000)
        #expect(scars.holes(in: times, after: nil).isEmpty)
        scars.note(before: 720, after: 1040)
        #expect(scars.holes(in: times, after: nil) == [.init(start: 800, end: 1040, count: 6)])
        // Damage that took nothing away.
        #expect(scars.holes(in: self.times(without: 1...1), after: nil).isEmpty)
        // A hole that the film has by itself, a second later.
        #expect(scars.holes(in: self.times(without: 1800...1900), after: nil).isEmpty)
    }

    @Test("A hole between two segments is named with the second")
    func border() {
        var scars = SourceScars()
        scars.note(before: 760, after: 1040)
        let times = times(without: 800...1000)
        #expect(scars.holes(in: times.filter { $0 < 800 }, after: nil).isEmpty)
        #expect(
            scars.holes(in: times.filter { $0 > 1000 }, after: 760) == [.init(start: 800, end: 1040, count: 6)])
    }

    @Test("Damage that goes on to the end leaves the end open")
    func end() {
        var scars = SourceScars()
        scars.note(before: 720, after: nil)
        #expect(scars.isOpen && scars.holes(in: times(without: 1...1), after: nil).isEmpty)
    }
}
