import Foundation
import Media
import MediaTime
import Testing

@Suite struct AssetTests {
    private func isUnknown<Value>(_ status: AssetProperty<Value>.Status) -> Bool {
        if case .unknown = status { true } else { false }
    }

    @Test("making an asset does no I/O; a property of a missing file fails with its own state")
    func lazy() async {
        let asset = Asset(location: "/nowhere/at/all.mp4")
        #expect(asset.openings == 0)
        #expect(isUnknown(asset.status(of: .tracks)))
        let error = await #expect(throws: MediaError.self) { try await asset.load(.tracks) }
        #expect(error?.reason == .notFound)
        guard case .failed(let kept) = asset.status(of: .tracks) else {
            Issue.record("tracks should have failed")
            return
        }
        #expect(kept.reason == .notFound)
        #expect(isUnknown(asset.status(of: .duration)))
        await #expect(throws: MediaError.self) { try await asset.load(.duration) }
        #expect(asset.openings == 1)
    }

    @Test("many properties asked for at once share one opening")
    func sharedOpening() async throws {
        guard let path = ContainerFixtures.path("media--sample_with_chapters.mp4") else { return }
        let asset = Asset(location: path)
        async let one = asset.load(.tracks)
        async let two = asset.load(.duration)
        async let three = asset.load(.chapters, .metadata, .byteCount)
        let (tracks, duration) = try await (one, two)
        let (chapters, metadata, bytes) = try await three
        #expect(tracks.count >= 2)
        #expect(duration.isNumeric)
        #expect(!chapters.isEmpty)
        #expect(metadata["major_brand"] != nil)
        #expect(bytes == 314_241)
        #expect(asset.openings == 1)
        guard case .loaded(let kept) = asset.status(of: .tracks) else {
            Issue.record("tracks should be loaded")
            return
        }
        #expect(kept.count == tracks.count)
    }

    @Test("a property that fails does not spoil the others")
    func independentFailures() async throws {
        guard let path = ContainerFixtures.path("firefox-esr--movie_300.mp4") else { return }
        try await ContainerFixtures.withFolder { folder in
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            let short = folder + "/short.mp4"
            try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: short))
            let asset = Asset(location: short)
            let error = await #expect(throws: MediaError.self) { try await asset.load(.measuredDuration) }
            #expect(error?.reason == .invalidData)
            let duration = try await asset.load(.duration)
            #expect(duration.isNumeric)
            let tracks = try await asset.load(.tracks)
            #expect(tracks.count == 2)
        }
    }

    @Test("the measured duration is exact")
    func measured() async throws {
        guard let path = ContainerFixtures.path("shaka-player--hls-ts-h264_0-5.ts") else { return }
        let duration = try await Asset(location: path).load(.measuredDuration)
        #expect(duration == MediaTime(value: 36, timescale: 1))
    }

    @Test("cancelling a task gives up its wait; the asset can be asked again")
    func cancelled() async throws {
        // A server that takes connections and never answers: a resource that opening waits for.
        let server = try SilentServer()
        let asset = Asset(location: "http://127.0.0.1:\(server.port)/film.mp4")
        let task = Task { try await asset.load(.tracks) }
        while isUnknown(asset.status(of: .tracks)) { await Task.yield() }
        task.cancel()
        let error = await #expect(throws: MediaError.self) { try await task.value }
        #expect(error?.reason == .cancelled)
        guard case .cancelled = asset.status(of: .tracks) else {
            Issue.record("tracks should be cancelled")
            return
        }
    }

    @Test("a cancelled task gets no value, even before it begins to wait")
    func cancelledBefore() async throws {
        guard let path = ContainerFixtures.path("shaka-player--v.mp4") else { return }
        let asset = Asset(location: path)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await asset.load(.tracks)
        }
        let error = await #expect(throws: MediaError.self) { try await task.value }
        #expect(error?.reason == .cancelled)
        #expect(try await asset.load(.tracks).count == 1)
    }
}

/// Listens on a free loopback port and never says a word.
private final class SilentServer: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptor = server
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(server, raw, length) == 0 && listen(server, 4) == 0
                    && getsockname(server, raw, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(code)
    }

    deinit { close(descriptor) }
}
