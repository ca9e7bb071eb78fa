internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess
internal import Testing
@testable internal import Verification

@Suite("The proof of an export")
struct ExportProofTests {
    /// The clip's own times, as segments of two seconds.
    private func expectation(_ path: String) throws -> (times: [[Int64]], timeBase: TimeBase) {
        let demuxer = try Demuxer(location: path)
        let track = try PictureTrack.find(in: demuxer.tracks, of: path)
        demuxer.select(tracks: [track.index])
        var times: [Int64] = []
        while let sample = try demuxer.readSample() { times.append(try #require(sample.pts)) }
        times.sort()
        let length = Int64(track.timeBase.denominator) * 2 / Int64(track.timeBase.numerator)
        let groups = Dictionary(grouping: times) { $0 / length }
        return (groups.keys.sorted().map { groups[$0] ?? [] }, track.timeBase)
    }

    private func verdict(
        of output: String, like source: String, times change: ([[Int64]]) -> [[Int64]] = { $0 },
        shift: MediaTime = .zero
    ) throws -> ExportProof.Verdict {
        let (times, timeBase) = try expectation(source)
        let expected = change(times)
        var asked: [Int] = []
        let proof = ExportProof(output: output, timeBase: timeBase, origin: .zero, shift: shift)
        let verdict = try proof.verdict(segmentCount: expected.count) { segment in
            asked.append(segment)
            return expected[segment]
        }
        #expect(asked == Array(0..<expected.count))
        return verdict
    }

    @Test("an output with every picture at its time passes", arguments: ["copy.mp4", "copy.mkv"])
    func passes(name: String) throws {
        guard let source = Clips.source else { return }
        let output = try #require(Clips.make("proof-\(name)", "-i SOURCE -map 0:v -c copy"))
        let verdict = try verdict(of: output, like: source)
        #expect(verdict.complaints == [])
        #expect(verdict.proof.pass && verdict.proof.outputFrames == 150 && verdict.proof.sourceFrames == 150)
        #expect(verdict.proof.maxPTSError == 0)
    }

    @Test("a shift of the whole file is expected where it is told")
    func shifted() throws {
        guard let source = Clips.source else { return }
        let output = try #require(
            Clips.make("proof-shifted.mkv", "-i SOURCE -map 0:v -c copy -output_ts_offset 0.5"))
        #expect(try !verdict(of: output, like: source).proof.pass)
        #expect(try verdict(of: output, like: source, shift: MediaTime(value: 1, timescale: 2)).proof.pass)
    }

    @Test("a picture that was moved knowingly is expected there, and no other may be off by as much")
    func knownMove() throws {
        guard let source = Clips.source else { return }
        let (times, timeBase) = try expectation(source)
        func proof(off index: Int?, by ticks: Int64 = 12) throws -> JobReport.Proof {
            // The picture at 4 should be 12 ticks earlier than it is: told. The other, as much or less: not told.
            var expected = times
            expected[1][4] -= 12
            if let index { expected[1][index] -= ticks }
            return try ExportProof(
                output: source, timeBase: timeBase, origin: .zero, shift: .zero, moves: [expected[1][4]: [12]]
            ).verdict(segmentCount: expected.count) { expected[$0] }.proof
        }
        let known = try proof(off: nil)
        #expect(known.pass)
        #expect(abs(known.maxPTSError - 12 / Double(timeBase.denominator)) < 1e-9)
        #expect(try !proof(off: 9).pass)
        #expect(try !proof(off: 9, by: 1).pass)
        #expect(try !proof(off: 5, by: -12).pass)
    }

    @Test("missing, doubled and moved pictures are told apart")
    func faults() throws {
        guard let source = Clips.source else { return }
        let missing = try verdict(of: source, like: source) { times in
            var times = times
            times[1].insert(times[1][3] + 100, at: 4)
            return times
        }
        #expect(!missing.proof.pass && missing.proof.missing == 1 && missing.proof.duplicated == 0)
        let doubled = try verdict(of: source, like: source) { times in
            var times = times
            times[1].remove(at: 4)
            return times
        }
        #expect(!doubled.proof.pass && doubled.proof.missing == 0 && doubled.proof.duplicated == 1)
        let moved = try verdict(of: source, like: source) { times in
            var times = times
            times[1][4] += 100
            return times
        }
        #expect(!moved.proof.pass && moved.proof.missing == 0 && moved.proof.duplicated == 0)
        #expect(moved.proof.maxPTSError > 0)
    }
}
