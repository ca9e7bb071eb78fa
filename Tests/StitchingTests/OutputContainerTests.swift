import Media
import MediaTime
import Support
import Testing

@testable import Stitching

@Suite("What a container can hold")
struct OutputContainerTests {
    private func job(container: Container, frames: Int = 100, timeBase: TimeBase, carried: Int = 1) -> StitchJob {
        StitchJob(
            temporary: "/nowhere", container: container, source: "/nowhere", videoTrack: 0, tracks: [], segments: [],
            timeBase: timeBase, carried: (0..<carried).map { CarriedTrack(track: $0 + 1) }, chapters: [], metadata: [:],
            origin: .zero, isRanged: false, rangeEnd: nil, copiesPicture: false, reorderDepth: 2,
            expectedFrames: frames)
    }

    @Test("A movie keeps the source's unit, Matroska and transport streams have their own")
    func videoTimeBases() throws {
        let film = try #require(TimeBase(numerator: 1, denominator: 30_000))
        for container in [.mp4, .mov] as [Container] {
            #expect(OutputContainer(container).videoTimeBase(film) == film)
        }
        #expect(OutputContainer(.matroska).videoTimeBase(film) == .milliseconds)
        #expect(OutputContainer(.webm).videoTimeBase(film) == .milliseconds)
        #expect(OutputContainer(.mpegTS).videoTimeBase(film) == .mpeg)
    }

    @Test(
        "Every tick of a source is a whole tick of a movie", arguments: [(1, 25), (1001, 30_000), (3, 7), (1, 90_000)])
    func wholeTicks(numerator: Int32, denominator: Int32) throws {
        let source = try #require(TimeBase(numerator: numerator, denominator: denominator))
        let movie = OutputContainer(.mp4).videoTimeBase(source)
        #expect(movie.numerator == 1)
        for tick in [-3, 0, 1, 2, 1_000_003] as [Int64] {
            let there = try source.rescale(tick, to: movie)
            #expect(try MediaTime(ticks: there, in: movie) == MediaTime(ticks: tick, in: source))
        }
    }

    @Test(
        "Only movies hold times below zero, only Matroska stores no decode times, only transport streams need sets in band"
    )
    func abilities() {
        for container in [.mp4, .mov, .matroska, .webm, .mpegTS] as [Container] {
            let output = OutputContainer(container)
            #expect(output.holdsNegativeTimes == [.mp4, .mov].contains(container))
            #expect(output.storesDecodeTimes == ![.matroska, .webm].contains(container))
            #expect(output.usesGlobalHeader == (container != .mpegTS))
        }
    }

    @Test("Runs of half a second begin at or before a time, below zero too", arguments: 0..<100 as Range<UInt64>)
    func interleaving(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let time = Int64.random(in: -10_000_000_000...10_000_000_000, using: &random)
        let point = OutputContainer(.mp4).interleavePoint(time)
        #expect(point <= time && time - point < 500_000_000 && point % 500_000_000 == 0, "seed \(seed)")
        #expect(OutputContainer(.mpegTS).interleavePoint(time) == time)
    }

    @Test("A movie reserves its index, and more of it after it proved too small; others take no options")
    func options() throws {
        let film = try #require(TimeBase(numerator: 1001, denominator: 30_000))
        let sound = try #require(TimeBase(numerator: 1, denominator: 48_000))
        let job = job(container: .mp4, timeBase: film)
        let output = OutputContainer(.mp4)
        let options = output.options(
            job: job, indexScale: 1, timeBases: [output.videoTimeBase(film), sound], carriedSamples: 500)
        #expect(options["video_track_timescale"] == "30000")
        #expect(options["movie_timescale"] == "240000")
        let size = try #require(options["moov_size"].flatMap { Int($0) })
        #expect(size > 100 * 24 + 500 * 12)
        let larger = output.options(job: job, indexScale: 4, timeBases: [sound], carriedSamples: 500)
        #expect(larger["moov_size"] == "\(size * 4)")
        for container in [.matroska, .webm, .mpegTS] as [Container] {
            let none = OutputContainer(container).options(
                job: self.job(container: container, timeBase: film), indexScale: 1, timeBases: [sound],
                carriedSamples: 500)
            #expect(none.isEmpty)
        }
    }
}
