import Foundation
import Media
import MediaTime
import Support
import Testing

@Suite struct DemuxerTests {
    @Test(
        "counts, keyframes and the first time of every real file equal the manifest",
        arguments: ContainerFixtures.manifest)
    func matchesManifest(row: ContainerFixtures.ManifestRow) throws {
        guard let path = ContainerFixtures.path(row.file) else { return }
        let demuxer = try Demuxer(location: path)
        let video = try #require(demuxer.tracks.first { $0.mediaType == .video })
        var packets = 0
        var keyframes = 0
        var first: Int64?
        do {
            while let sample = try demuxer.readSample() {
                guard sample.track == video.index else { continue }
                packets += 1
                if sample.isSync { keyframes += 1 }
                if let pts = sample.pts, !sample.isDiscarded || first == nil { first = min(first ?? pts, pts) }
            }
        } catch {
            // The one cut-off file says so, after its last sample.
            #expect(row.file == "jcodec--test.mkv" && error.reason == .invalidData, "\(error)")
        }
        #expect(packets == row.videoPackets)
        #expect(keyframes == row.keyframes)
        #expect(video.format.width > 0)
        #expect(first != nil)
    }

    @Test("a missing file, a directory, an empty file and a text are told apart")
    func badInputs() throws {
        try ContainerFixtures.withFolder { folder in
            let empty = folder + "/empty.mp4"
            let text = folder + "/notes.txt"
            let noise = folder + "/noise.mp4"
            try Data().write(to: URL(fileURLWithPath: empty))
            try Data("Dear diary, this is not a film.\n".utf8).write(to: URL(fileURLWithPath: text))
            try Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }).write(
                to: URL(fileURLWithPath: noise))
            #expect(ContainerFixtures.reason { _ = try Demuxer(location: folder + "/none.mp4") } == .notFound)
            #expect(ContainerFixtures.reason { _ = try Demuxer(location: folder) } == .notMedia)
            #expect(ContainerFixtures.reason { _ = try Demuxer(location: empty) } == .notMedia)
            #expect(ContainerFixtures.reason { _ = try Demuxer(location: text) } == .notMedia)
            #expect(ContainerFixtures.reason { _ = try Demuxer(location: noise) } == .notMedia)
            #expect(ContainerFixtures.reason { _ = try Demuxer(location: "nowhere://x/y") } == .unsupported)
        }
    }

    @Test(
        "where a demuxer gives up although the bytes are there, that is the end of the media and damage, no fault of the disk"
    )
    func demuxerGivesUp() throws {
        try ContainerFixtures.withFolder { folder in
            // libavformat 5.1 does not know how to go on with other streams than those before (chained Ogg, RFC 3533 §4).
            let pieces = [["-f", "lavfi", "-i", "sine=d=1", "-c:a", "libvorbis"], []].enumerated().map {
                number, sound in
                (
                    "\(folder)/\(number).ogv",
                    ["-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=1"] + sound + ["-c:v", "libtheora"]
                )
            }
            for (path, options) in pieces { guard try FFmpegProgram.run(options + [path]) else { return } }
            let chain = folder + "/chain.ogv"
            try pieces.map { try Data(contentsOf: URL(fileURLWithPath: $0.0)) }.reduce(Data(), +).write(
                to: URL(fileURLWithPath: chain))
            let demuxer = try Demuxer(location: chain)
            var pictures = 0
            while let sample = try demuxer.readToEnd() { pictures += sample.track == 0 ? 1 : 0 }
            #expect(pictures >= 24)
            if let cutOff = demuxer.cutOff {
                #expect(cutOff.reason == .invalidData && cutOff.message.contains("cannot be read to its end"))
            } else {
                #expect(pictures > 25, "neither an error nor the second piece")
            }
        }
    }

    @Test("a colon in a path is no protocol")
    func colonInPath() throws {
        guard let source = ContainerFixtures.path("shaka-player--v.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            let path = folder + "/concat:a.mp4"
            try FileManager.default.copyItem(atPath: source, toPath: path)
            #expect(try Demuxer(location: path, probe: .quick).tracks.count == 1)
        }
    }

    @Test("an option that nobody takes is named")
    func unknownOption() throws {
        guard let path = ContainerFixtures.path("shaka-player--v.mp4") else { return }
        let error = #expect(throws: MediaError.self) {
            _ = try Demuxer(location: path, options: ["no_such_option": "1"])
        }
        #expect(error?.reason == .invalidSettings)
        #expect(error?.message.contains("no_such_option") == true)
    }

    @Test("an encrypted track is recognised, a clear one is not called encrypted")
    func encrypted() throws {
        guard let path = ContainerFixtures.path("shaka-player--video.mp4"),
            let clear = ContainerFixtures.path("firefox-esr--movie_300.mp4")
        else { return }
        for probe in [Demuxer.Probe.header, .quick, .full] {
            #expect(try Demuxer(location: path, probe: probe).tracks.allSatisfy(\.isEncrypted))
        }
        #expect(try !Demuxer(location: clear).tracks.contains(where: \.isEncrypted))
    }

    @Test("opening a long MP4 reads its index, not its media")
    func quickProbeReadsLittle() throws {
        guard let path = ContainerFixtures.path("firefox-esr--movie_300.mp4") else { return }
        let demuxer = try Demuxer(location: path, probe: .quick)
        let size = try #require(demuxer.byteCount)
        let video = try #require(demuxer.tracks.first { $0.mediaType == .video })
        #expect(try demuxer.isIndexed(track: video.index))
        let index = try #require(try demuxer.containerIndex(track: video.index))
        #expect(index.count == 7200)
        #expect(index.filter(\.isSync).count == 29)
        print("movie_300: \(demuxer.bytesRead) of \(size) bytes read for the plan")
        #expect(demuxer.bytesRead < size / 3)
        #expect(video.format.pixelFormat == "yuv420p")
    }

    @Test("the index agrees with the samples, and a seek starts at a sync sample")
    func indexAgreesWithSamples() throws {
        guard let path = ContainerFixtures.path("firefox-esr--movie_300.mp4") else { return }
        let demuxer = try Demuxer(location: path, probe: .quick)
        let track = try #require(demuxer.tracks.first { $0.mediaType == .video }?.index)
        demuxer.select(tracks: [track])
        let index = try #require(try demuxer.containerIndex(track: track))
        let keys = index.filter(\.isSync)
        for key in [keys[3], keys[20], keys[7], keys[0]] {
            try demuxer.seek(track: track, toTicks: key.timestamp)
            let first = try #require(try demuxer.readSample())
            #expect(first.dts == key.timestamp)
            #expect(first.position == key.position)
            #expect(first.size == key.size)
            #expect(first.isSync)
            let next = try #require(try demuxer.readSample())
            #expect(try #require(next.dts) > key.timestamp)
        }
    }

    @Test("fragmented MP4, MPEG-TS and WebM without cues have no whole index; WebM with cues has")
    func isIndexed() throws {
        let expectations: [(String, Bool)] = [
            ("firefox-esr--bug1718709_high_res.mp4", false), ("shaka-player--v.mp4", false),
            ("firefox--bipbop_offset_0.7_frag.mp4", false), ("shaka-player--hls-ts-h264_0-5.ts", false),
            ("firefox-esr--no-cues.webm", false), ("firefox-esr--sync.webm", true),
            ("mp4parser--foreman-hevc-384.mp4", true), ("caption-inspector--BigBuckBunny_160x90-24fps.mov", true),
        ]
        for (file, expected) in expectations {
            guard let path = ContainerFixtures.path(file) else { continue }
            let demuxer = try Demuxer(location: path)
            let video = try #require(demuxer.tracks.first { $0.mediaType == .video })
            #expect(try demuxer.isIndexed(track: video.index) == expected, "\(file)")
        }
    }

    @Test("reading the cues of a WebM does not move the read position")
    func cuesKeepPosition() throws {
        guard let path = ContainerFixtures.path("firefox-esr--sync.webm") else { return }
        let demuxer = try Demuxer(location: path)
        let video = try #require(demuxer.tracks.first { $0.mediaType == .video })
        let plain = try ContainerFixtures.samples(of: Demuxer(location: path), track: video.index).count
        let index = try #require(try demuxer.containerIndex(track: video.index))
        #expect(index.count > 2)
        #expect(try ContainerFixtures.samples(of: demuxer, track: video.index).count == plain)
    }

    @Test("a movie whose header says that nobody knew its length tells none", arguments: ["1000", "90000"])
    func untoldLength(timescale: String) throws {
        let folder = try ScratchFolder()
        let clip = folder.file("clip.mp4")
        guard
            try FFmpegProgram.run(
                [
                    "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1", "-movflags", "frag_keyframe+empty_moov",
                    "-movie_timescale", timescale, "-video_track_timescale", "90000", clip,
                ])
        else { return }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: clip))
        for name in ["mvhd", "mdhd"] {
            // Name, version and flags, two times, timescale; then the length (ISO/IEC 14496-12 §8.2.2.2, §8.4.2.2).
            let length = try #require(bytes.range(of: Data(name.utf8))).lowerBound + 20
            bytes.replaceSubrange(length..<length + 4, with: [255, 255, 255, 255])
        }
        try bytes.write(to: URL(fileURLWithPath: clip))
        let demuxer = try Demuxer(location: clip)
        #expect(demuxer.duration == nil)
        #expect(demuxer.tracks.first?.durationTicks == nil)
    }

    @Test("a cut-off MP4 is an error after its last sample, then the end")
    func cutOff() throws {
        guard let path = ContainerFixtures.path("firefox-esr--movie_300.mp4") else { return }
        try ContainerFixtures.withFolder { folder in
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            let short = folder + "/short.mp4"
            try data.prefix(data.count * 3 / 4).write(to: URL(fileURLWithPath: short))
            let demuxer = try Demuxer(location: short)
            var count = 0
            let error = #expect(throws: MediaError.self) {
                while try demuxer.readSample() != nil { count += 1 }
            }
            #expect(error?.reason == .invalidData)
            #expect(count > 1000)
            #expect(demuxer.sawError)
            #expect(try demuxer.readSample() == nil)
        }
    }

    @Test("a cut-off Matroska file is an error after its last sample, too")
    func cutOffMatroska() throws {
        guard let path = ContainerFixtures.path("firefox-esr--sync.webm") else { return }
        try ContainerFixtures.withFolder { folder in
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            let short = folder + "/short.webm"
            try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: short))
            let demuxer = try Demuxer(location: short)
            var count = 0
            #expect(ContainerFixtures.reason { while try demuxer.readSample() != nil { count += 1 } } == .invalidData)
            #expect(count > 100)
        }
    }

    @Test("a transport stream can be entered at any byte")
    func byteSeek() throws {
        guard let path = ContainerFixtures.path("shaka-player--hls-ts-h264_0-5.ts") else { return }
        let demuxer = try Demuxer(location: path)
        let all = try ContainerFixtures.samples(of: demuxer)
        let key = try #require(all.filter(\.isSync).dropFirst(5).first)
        let position = try #require(key.position)
        try demuxer.seek(toByte: position)
        let first = try #require(try demuxer.readSample())
        #expect(first.position == position)
        #expect(first.isSync)
        #expect(first.pts == key.pts)
        // This PES packet begins with the end of the picture before.
        #expect(first.size - key.size == 100)
        let isWhole = ContainerFixtures.bytes(of: first).suffix(key.size).elementsEqual(
            ContainerFixtures.bytes(of: key))
        #expect(isWhole)
    }

    @Test("a quick probe of a file with a header reads at most the header and half a megabyte, and finds every track")
    func quickProbeIsBounded() throws {
        for row in ContainerFixtures.manifest where !row.file.hasSuffix(".ts") && !row.file.hasSuffix(".flv") {
            guard let path = ContainerFixtures.path(row.file) else { continue }
            let quick = try Demuxer(location: path, probe: .quick)
            let full = try Demuxer(location: path)
            #expect(quick.tracks.map(\.format.codecName) == full.tracks.map(\.format.codecName), "\(row.file)")
            #expect(quick.tracks.map(\.timeBase) == full.tracks.map(\.timeBase), "\(row.file)")
            let header = try Demuxer(location: path, probe: .header).bytesRead
            #expect(quick.bytesRead <= header + 700_000, "\(row.file)")
        }
    }

    @Test("a raised flag stops opening and reading; a deadline is another reason")
    func interrupt() throws {
        guard let path = ContainerFixtures.path("firefox-esr--movie_300.mp4") else { return }
        let raised = InterruptFlag()
        raised.interrupt()
        #expect(ContainerFixtures.reason { _ = try Demuxer(location: path, interrupt: raised) } == .cancelled)
        let late = InterruptFlag()
        late.setDeadline(in: .zero)
        #expect(ContainerFixtures.reason { _ = try Demuxer(location: path, interrupt: late) } == .timedOut)
        late.setDeadline(in: nil)
        let demuxer = try Demuxer(location: path, interrupt: late)
        late.interrupt()
        #expect(ContainerFixtures.reason { while try demuxer.readSample() != nil {} } == .cancelled)
    }

    @Test("new parameter sets in the middle of a track change the samples' format")
    func formatChange() throws {
        try ContainerFixtures.withFolder { folder in
            var joined = Data()
            for size in ["64x48", "96x64"] {
                let path = "\(folder)/\(size).flv"
                let source = "testsrc=size=\(size):rate=10:duration=1"
                guard
                    try ContainerFixtures.ffmpeg(
                        ["-f", "lavfi", "-i", source, "-c:v", "libx264", "-pix_fmt", "yuv420p", path])
                else { return }
                let data = try Data(contentsOf: URL(fileURLWithPath: path))
                joined += joined.isEmpty ? data : data.dropFirst(13)  // the header and the first back pointer
            }
            let path = folder + "/joined.flv"
            try joined.write(to: URL(fileURLWithPath: path))
            let samples = try ContainerFixtures.samples(of: Demuxer(location: path))
            #expect(samples.count == 20)
            #expect(Set(samples.prefix(10).map(\.format.extradata)).count == 1)
            #expect(Set(samples.map(\.format.extradata)).count == 2)
        }
    }

    @Test("samples of tracks that are not selected are not read")
    func selection() throws {
        guard let path = ContainerFixtures.path("torchcodec--nasa_13013.mp4") else { return }
        let demuxer = try Demuxer(location: path)
        let audio = try #require(demuxer.tracks.first { $0.mediaType == .audio })
        demuxer.select(tracks: [audio.index])
        #expect(Set(try ContainerFixtures.samples(of: demuxer).map(\.track)) == [audio.index])
    }
}

@Suite struct TrackTests {
    @Test("edit lists come out as the file has them")
    func segments() throws {
        let expectations: [(String, [[(Int64, Int64?)]])] = [
            ("mp4parser--foreman-hevc-384.mp4", [[(10344, 2002)]]),
            ("ExoPlayer--video_desks.3gp", [[(128, nil), (5020, 0)]]),
        ]
        for (file, tracks) in expectations {
            guard let path = ContainerFixtures.path(file) else { continue }
            let demuxer = try Demuxer(location: path)
            for (track, expected) in zip(demuxer.tracks, tracks) {
                #expect(track.segments.map(\.duration) == expected.map(\.0), "\(file)")
                #expect(track.segments.map(\.mediaStart) == expected.map(\.1), "\(file)")
            }
        }
        guard let path = ContainerFixtures.path("ExoPlayer--video_desks.3gp") else { return }
        let segments = try Demuxer(location: path).tracks[0].segments
        #expect(segments[1].targetStart == 128)
        #expect(try segments[0].mapping().isEmptyEdit)
        #expect(try segments[1].mapping().map(.zero) == MediaTime(value: 128, timescale: 1000))
    }

    @Test("HDR, Dolby Vision and rotation are attachments of the track")
    func attachments() throws {
        if let path = ContainerFixtures.path("dovi_tool--regular.mkv") {
            let track = try Demuxer(location: path).tracks[0]
            #expect(track.attachments.contains { $0.kind == .dolbyVision && $0.bytes.count >= 8 })
            #expect(track.rotation == 0)
        }
        if let path = ContainerFixtures.path("media--sample_edit_list_no_sync_frame_before_edit.mp4") {
            let track = try #require(try Demuxer(location: path).tracks.first { $0.mediaType == .video })
            #expect(track.rotation == 90)
            #expect(track.transform == [0, 65536, 0, -65536, 0, 0, 0, 0, 1_073_741_824])
        }
    }

    @Test("non-square samples widen the natural size")
    func naturalSize() throws {
        guard let path = ContainerFixtures.path("firefox-esr--pixel_aspect_ratio.mp4") else { return }
        let track = try #require(try Demuxer(location: path).tracks.first { $0.mediaType == .video })
        let aspect = try #require(track.sampleAspectRatio)
        #expect(aspect.numerator != aspect.denominator)
        #expect(track.naturalSize.width != track.format.width)
        #expect(track.naturalSize.height == track.format.height)
    }

    @Test("chapters and tags are read")
    func chapters() throws {
        guard let path = ContainerFixtures.path("media--sample_with_chapters.mp4") else { return }
        let demuxer = try Demuxer(location: path)
        #expect(!demuxer.chapters.isEmpty)
        #expect(demuxer.chapters.allSatisfy { $0.title != nil && $0.start <= $0.end })
        #expect(demuxer.metadata["MAJOR_BRAND"] != nil)
    }
}
