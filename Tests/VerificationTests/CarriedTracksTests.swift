internal import Media
internal import MediaTime
internal import SourceAccess
internal import Testing
@testable internal import Verification

@Suite("Carried tracks in the proof of an export")
struct CarriedTracksTests {
    /// What the clip's own tracks beside the picture promise.
    private func promise(_ path: String) throws -> [CarriedTally] {
        let demuxer = try Demuxer(location: path)
        var tallies = demuxer.tracks.filter { $0.mediaType != .video }.map {
            CarriedTally(track: $0.index, mediaType: $0.mediaType, codec: $0.format.codecName, isCopy: true)
        }
        while let sample = try demuxer.readSample() {
            guard let place = tallies.firstIndex(where: { $0.track == sample.track }), sample.beginsCue else {
                continue
            }
            func nanoseconds(_ ticks: Int64) -> Int64 {
                ticks * 1_000_000_000 * Int64(sample.timeBase.numerator) / Int64(sample.timeBase.denominator)
            }
            let pts = try #require(sample.pts)
            tallies[place].read.add(from: nanoseconds(pts), lasting: nanoseconds(sample.duration))
            tallies[place].written = tallies[place].read
        }
        return tallies
    }

    private func verdict(_ output: String, _ source: String, marks: PromisedMarks? = nil) throws -> ExportProof.Verdict
    {
        let demuxer = try Demuxer(location: source)
        let track = try PictureTrack.find(in: demuxer.tracks, of: source)
        demuxer.select(tracks: [track.index])
        var times: [Int64] = []
        while let sample = try demuxer.readSample() { times.append(try #require(sample.pts)) }
        return try ExportProof(
            output: output, timeBase: track.timeBase, origin: .zero, shift: .zero, carried: try promise(source),
            marks: marks
        ).verdict(segmentCount: 1) { _ in times.sorted() }
    }

    @Test("tracks that arrived whole pass, and are counted", arguments: ["copy.mp4", "copy.mov"])
    func passes(name: String) throws {
        guard let source = Clips.source else { return }
        let output = try #require(Clips.make("carried-\(name)", "-i SOURCE -map 0 -c copy"))
        let verdict = try verdict(output, source)
        #expect(verdict.complaints == [] && verdict.proof.pass)
        #expect(verdict.proof.tracks.map(\.kind) == ["audio", "subtitle"])
        #expect(verdict.proof.tracks.last?.sourceSamples == 2 && verdict.proof.tracks.last?.outputSamples == 2)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        var arguments: String
        var words: String
        var testDescription: String { name }
    }

    static let faults = [
        Fault(
            name: "no-sound.mp4", arguments: "-i SOURCE -map 0:v -map 0:s -c copy",
            words: "(audio, aac) is not in the output"),
        Fault(
            name: "no-text.mp4", arguments: "-i SOURCE -map 0:v -map 0:a -c copy", words: "(subtitle, mov_text) is not"),
        Fault(
            name: "short-sound.mp4", arguments: "-i SOURCE -t 5.5 -i SOURCE -map 0:v -map 1:a -map 0:s -c copy",
            words: "of them are in the output"),
        Fault(
            name: "short-sound-encoded.mkv",
            arguments: "-i SOURCE -t 5.5 -i SOURCE -map 0:v -map 1:a -map 0:s -c copy -c:a pcm_s16le -c:s srt",
            words: "of them are in the output"),
        Fault(
            name: "late-sound.mp4", arguments: "-i SOURCE -itsoffset 0.4 -i SOURCE -map 0:v -map 1:a -map 0:s -c copy",
            words: "begins 0.39"),
        Fault(
            name: "cue-lost.mp4", arguments: "-i SOURCE -t 1.9 -i SOURCE -map 0:v -map 0:a -map 1:s -c copy",
            words: "has 2 samples, and 1 of them"),
    ]

    @Test("a track that is absent, empty, short or late fails the proof, by name", arguments: faults)
    func fails(_ fault: Fault) throws {
        guard let source = Clips.source else { return }
        let output = try #require(Clips.make("carried-" + fault.name, fault.arguments))
        let verdict = try verdict(output, source)
        #expect(!verdict.proof.pass && verdict.proof.missing == 0)
        #expect(verdict.complaints.contains { $0.contains(fault.words) }, "\(verdict.complaints)")
        #expect(verdict.proof.tracks.contains { !$0.pass })
    }

    @Test("chapters, time code and tags that the file does not tell are named")
    func marks() throws {
        guard let source = Clips.source else { return }
        let promised = PromisedMarks(
            container: .mp4, chapters: 2, timecode: "01:00:00:00", tags: ["title": "Film", "artist": "Someone"])
        let verdict = try verdict(source, source, marks: promised)
        #expect(verdict.proof.pass)
        #expect(
            verdict.proof.lacking == [
                "2 of 2 chapters did not reach the file.", "The time code 01:00:00:00 did not reach the file.",
                "The tag “artist” did not reach the file.",
            ])
    }
}
