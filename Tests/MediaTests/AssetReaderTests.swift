import Foundation
import Media
import MediaTime
import Testing

@Suite struct AssetReaderTests {
    private func video(_ asset: Asset) async throws -> Track {
        try #require(try await asset.load(.tracks).first { $0.mediaType == .video })
    }

    private func frames(of asset: Asset, _ track: Track, _ range: TimeRange? = nil) throws -> [Int64] {
        let reader = AssetReader(asset: asset, timeRange: range)
        let output = AssetReaderTrackOutput(track: track, settings: .decoded(.init()))
        try reader.add(output)
        try reader.startReading()
        var times: [Int64] = []
        while let frame = output.copyNextFrame() { times.append(try #require(frame.pts)) }
        #expect(reader.status == .completed, "\(String(describing: reader.error))")
        return times
    }

    @Test("compressed samples equal the demuxer's; the end is 'completed'")
    func compressed() async throws {
        guard let path = ContainerFixtures.path("torchcodec--nasa_13013.mp4") else { return }
        let asset = Asset(location: path)
        let tracks = try await asset.load(.tracks)
        let reader = AssetReader(asset: asset)
        let outputs = tracks.map { AssetReaderTrackOutput(track: $0) }
        for output in outputs { try reader.add(output) }
        #expect(reader.status == .unknown)
        #expect(outputs[0].copyNextSample() == nil)
        try reader.startReading()
        let expected = try ContainerFixtures.samples(of: Demuxer(location: path))
        for (index, output) in outputs.enumerated() {
            #expect(reader.status == .reading)
            var times: [Int64?] = []
            while let sample = output.copyNextSample() { times.append(sample.pts) }
            #expect(times == expected.filter { $0.track == index }.map(\.pts))
            #expect(output.hasEnded)
        }
        #expect(reader.status == .completed)
    }

    @Test("a time range is half-open and exact, wherever the keyframes lie")
    func timeRange() async throws {
        for file in [
            "mp4parser--foreman-hevc-384.mp4", "media--trim_optimization_failure.mp4", "firefox-esr--sync.webm",
        ] {
            guard let path = ContainerFixtures.path(file) else { continue }
            let asset = Asset(location: path)
            let track = try await video(asset)
            let all = try frames(of: asset, track).sorted()
            for (from, to) in [(30, 60), (61, 62), (0, 5), (all.count - 7, all.count - 1)] {
                let range = try TimeRange(
                    start: MediaTime(ticks: all[from], in: track.timeBase),
                    end: MediaTime(ticks: all[to], in: track.timeBase))
                #expect(try frames(of: asset, track, range) == Array(all[from..<to]), "\(file) \(from)..<\(to)")
            }
        }
    }

    @Test("a compressed range starts at a sync sample and marks what is only for decoding")
    func compressedRange() async throws {
        guard let path = ContainerFixtures.path("firefox-esr--movie_300.mp4") else { return }
        let asset = Asset(location: path)
        let track = try await video(asset)
        let range = try TimeRange(
            start: MediaTime(value: 100, timescale: 1), duration: MediaTime(value: 2, timescale: 1))
        let reader = AssetReader(asset: asset, timeRange: range)
        let output = AssetReaderTrackOutput(track: track)
        try reader.add(output)
        try reader.startReading()
        var samples: [Sample] = []
        while let sample = output.copyNextSample() { samples.append(sample) }
        #expect(samples.first?.isSync == true)
        #expect(samples.count(where: { !$0.isDiscarded }) == 48)
        for sample in samples {
            let time = try MediaTime(ticks: try #require(sample.pts), in: sample.timeBase)
            #expect(range.contains(time) == !sample.isDiscarded)
        }
    }

    @Test("cancelled and failed are told apart from the end")
    func causesOfNil() async throws {
        guard let path = ContainerFixtures.path("firefox-esr--movie_300.mp4") else { return }
        let asset = Asset(location: path)
        let track = try await video(asset)
        let reader = AssetReader(asset: asset)
        let output = AssetReaderTrackOutput(track: track)
        try reader.add(output)
        try reader.startReading()
        #expect(output.copyNextSample() != nil)
        reader.canceller.cancel()
        #expect(output.copyNextSample() == nil)
        #expect(reader.status == .cancelled)
        #expect(reader.error == nil)

        try ContainerFixtures.withFolder { folder in
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            let short = folder + "/short.mp4"
            try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: short))
            let broken = AssetReader(asset: Asset(location: short))
            let output = AssetReaderTrackOutput(track: track)
            try broken.add(output)
            try broken.startReading()
            while output.copyNextSample() != nil {}
            #expect(broken.status == .failed)
            #expect(broken.error?.reason == .invalidData)
            #expect(!output.hasEnded)
        }
    }

    @Test("a missing file fails at the start; an encrypted track is not decoded; misuse is an error")
    func refusals() async throws {
        guard let path = ContainerFixtures.path("shaka-player--video.mp4") else { return }
        let asset = Asset(location: path)
        let track = try await video(asset)
        let reader = AssetReader(asset: asset)
        try reader.add(AssetReaderTrackOutput(track: track, settings: .decoded(.init())))
        #expect(ContainerFixtures.reason { try reader.startReading() } == .encrypted)
        #expect(reader.status == .failed)

        let missing = AssetReader(asset: Asset(location: "/nowhere.mp4"))
        #expect(ContainerFixtures.reason { try missing.startReading() } == .invalidSettings)
        let output = AssetReaderTrackOutput(track: track)
        try missing.add(output)
        #expect(ContainerFixtures.reason { try missing.add(output) } == .invalidSettings)
        #expect(ContainerFixtures.reason { try missing.startReading() } == .notFound)
        #expect(missing.status == .failed)
    }

    @Test("new parameter sets in the middle give frames of both sizes")
    func formatChange() async throws {
        guard let path = ContainerFixtures.path("firefox-esr--400x300-red-resize-200x150-green.mp4") else { return }
        let asset = Asset(location: path)
        let reader = AssetReader(asset: asset)
        let output = AssetReaderTrackOutput(track: try await video(asset), settings: .decoded(.init()))
        try reader.add(output)
        try reader.startReading()
        var widths: Set<Int> = []
        var count = 0
        while let frame = output.copyNextFrame() {
            widths.insert(frame.width)
            count += 1
        }
        #expect(reader.status == .completed)
        #expect(widths == [400, 200])
        #expect(count == 118)
    }
}
