internal import Testing

@testable import Stitching

@Suite("One cue at a time")
struct CueLineTests {
    private func line(_ cues: [CueLine.Cue]) -> [CueLine.Cue] {
        var line = CueLine()
        var result: [CueLine.Cue] = []
        for cue in cues { result += line.add(cue) }
        return result + line.finish()
    }

    @Test("cues that do not overlap stay as they are, gaps included")
    func separate() {
        let cues = [
            CueLine.Cue(start: 0, end: 10, events: ["a"]), .init(start: 10, end: 12, events: ["b"]),
            .init(start: 20, end: 25, events: ["c"]),
        ]
        #expect(line(cues) == cues)
    }

    @Test("where two overlap both are shown, and the longer one goes on alone")
    func overlapping() {
        let shown = line([
            .init(start: 0, end: 10, events: ["a"]), .init(start: 4, end: 6, events: ["b"]),
            .init(start: 30, end: 31, events: ["c"]),
        ])
        #expect(shown.map(\.start) == [0, 4, 6, 30])
        #expect(shown.map(\.events) == [["a"], ["a", "b"], ["a"], ["c"]])
        #expect(shown[2].end == 10)
    }

    @Test("cues that begin together are shown together")
    func together() {
        let shown = line([.init(start: 5, end: 10, events: ["a"]), .init(start: 5, end: 10, events: ["b"])])
        #expect(shown == [.init(start: 5, end: 10, events: ["a", "b"])])
    }

    @Test("times never go back, whatever order cues come in")
    func unordered() {
        var random = SystemRandomNumberGenerator()
        let cues = (0..<200).map { _ in
            let start = Int64.random(in: 0..<1000, using: &random)
            return CueLine.Cue(start: start, end: start + Int64.random(in: 1..<50, using: &random), events: ["x"])
        }
        let starts = line(cues).map(\.start)
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $0 < $1 })
    }
}
