import Foundation
import MediaTime
import Support
import Synchronization
import Testing

@testable import Media

/// Software encoders with the quickest settings each has.
struct TestEncoder: CustomTestStringConvertible, Sendable {
    var name: String
    var pixelFormat = "yuv420p"
    var options: [String: String]
    /// Enough to tell the right picture from its neighbours.
    var likeness: Double = 15

    var testDescription: String { name }
    static let all = [
        TestEncoder(name: "libx264", options: ["preset": "fast", "crf": "18"]),
        TestEncoder(name: "libx265", options: ["preset": "ultrafast", "crf": "18", "x265-params": "bframes=3"]),
        TestEncoder(name: "libsvtav1", options: ["preset": "12", "crf": "15"]),
        TestEncoder(name: "libvpx-vp9", options: ["crf": "20", "deadline": "realtime", "cpu-used": "8"]),
        TestEncoder(name: "prores_ks", pixelFormat: "yuv422p10le", options: [:], likeness: 0),
    ].filter { EncoderCatalog.encoder(named: $0.name) != nil }

    func settings(_ format: FrameFormat, threads: Int = 1) -> CompressionSettings {
        var settings = CompressionSettings(encoder: name, video: format)
        settings.options = options
        settings.threads = threads
        return settings
    }
}

@Suite struct CompressionSessionTests {
    @Test("Every picture comes back once, at its own time, and looks like itself", arguments: TestEncoder.all)
    func roundTrip(encoder: TestEncoder) throws {
        let source = try TestPictures(pixelFormat: encoder.pixelFormat).pictures(30)
        let (samples, format) = try encode(source, encoder.settings(source[0].format))
        #expect(samples.count == 30)
        #expect(samples.first?.isSync == true)
        #expect(samples.compactMap(\.pts).sorted() == Array(0..<30))
        #expect(samples.allSatisfy { $0.duration == 1 })
        let dts = samples.compactMap(\.dts)
        #expect(zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 })
        #expect(samples.allSatisfy { sample in sample.dts.flatMap { dts in sample.pts.map { dts <= $0 } } ?? false })
        let decoded = try decode(samples, format)
        #expect(decoded.compactMap(\.pts) == Array(0..<30))
        guard encoder.likeness > 0 else { return }
        // Each picture is itself or, where an encoder's version is coarse, close to it; none from elsewhere.
        for (index, copy) in decoded.enumerated() {
            let scores = source.map { likeness($0, copy) }
            #expect(scores[index] > encoder.likeness)
            let best = try #require(scores.indices.max { scores[$0] < scores[$1] })
            #expect(abs(best - index) <= 2)
        }
    }

    @Test("Variable times in fine units come back exactly", arguments: TestEncoder.all, [12_800, 90_000, 1000])
    func variableTimes(encoder: TestEncoder, ticks: Int32) throws {
        let timeBase = try #require(TimeBase(numerator: 1, denominator: ticks))
        let pictures = try TestPictures(pixelFormat: encoder.pixelFormat, timeBase: timeBase)
        var random = SeededRandom(seed: 7)
        var times: [Int64] = [Int64(ticks) * 3600 + 17]
        for _ in 1..<30 { times.append((times.last ?? 0) + Int64.random(in: 1...Int64(ticks / 12), using: &random)) }
        let frames = try times.enumerated().map { try pictures.picture($0.offset, pts: $0.element) }
        let (samples, format) = try encode(frames, encoder.settings(pictures.format))
        #expect(samples.compactMap(\.pts).sorted() == times)
        #expect(try decode(samples, format).compactMap(\.pts) == times)
    }

    @Test("Two sessions with equal settings return equal bytes", arguments: TestEncoder.all, [1, 2, 4])
    func isReproducible(encoder: TestEncoder, threads: Int) throws {
        let pictures = try TestPictures(pixelFormat: encoder.pixelFormat)
        let frames = try pictures.pictures(30)
        let first = try encode(frames, encoder.settings(pictures.format, threads: threads))
        let second = try encode(frames, encoder.settings(pictures.format, threads: threads))
        #expect(first.samples.map(bytes(of:)) == second.samples.map(bytes(of:)))
        #expect(first.samples.map(\.dts) == second.samples.map(\.dts))
        #expect(first.format.extradata == second.format.extradata)
    }

    @Test("Sessions may open and close on several threads at once", arguments: TestEncoder.all)
    func isIndependent(encoder: TestEncoder) throws {
        let pictures = try TestPictures(pixelFormat: encoder.pixelFormat)
        let frames = try pictures.pictures(2)
        let counts = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 24) { _ in
            let made = (try? encode(frames, encoder.settings(pictures.format)))?.samples.count ?? 0
            counts.withLock { $0.append(made) }
        }
        #expect(counts.withLock { $0 } == Array(repeating: 2, count: 24))
    }

    @Test("No whole picture is copied between drawing, filter and encoder")
    func copiesNothing() throws {
        let pictures = try TestPictures()
        let frames = try pictures.pictures(10)
        let graph = try FilterGraph(description: "", input: pictures.format)
        let session = try CompressionSession(settings: TestEncoder.all[0].settings(pictures.format))
        for frame in frames {
            let before = frame.withPlane(0) { bytes, _ in bytes.baseAddress }
            try graph.process(frame) { frame throws(MediaError) in
                #expect(frame.withPlane(0) { bytes, _ in bytes.baseAddress } == before)
                try session.encode(frame) { _ in }
            }
        }
        #expect(PixelCopies.total == 0)
    }

    @Test("An unknown option is an error that names it and the encoder", arguments: TestEncoder.all)
    func unknownOption(encoder: TestEncoder) throws {
        var settings = encoder.settings(try TestPictures(pixelFormat: encoder.pixelFormat).format)
        settings.options["colour-of-magic"] = "octarine"
        let error = #expect(throws: MediaError.self) { try CompressionSession(settings: settings) }
        #expect(error?.boundary == .encoder)
        #expect(error?.reason == .invalidSettings)
        #expect(error?.message.contains("colour-of-magic") == true)
        #expect(error?.message.contains(encoder.name) == true)
    }

    @Test(
        "An unknown word in an encoder's own parameter list is an error that names it",
        arguments: [("libx264", "x264-params"), ("libx265", "x265-params"), ("libsvtav1", "svtav1-params")])
    func unknownParameter(encoder: String, list: String) throws {
        guard EncoderCatalog.encoder(named: encoder) != nil else { return }
        var settings = CompressionSettings(encoder: encoder, video: try TestPictures().format)
        settings.options[list] = "colour-of-magic=8"
        let error = #expect(throws: MediaError.self) { try CompressionSession(settings: settings) }
        #expect(error?.reason == .invalidSettings)
        #expect(error?.message.contains("colour-of-magic") == true)
    }

    @Test("A value that an option does not take is an error that names both")
    func refusedValue() throws {
        var settings = TestEncoder.all[0].settings(try TestPictures().format)
        settings.options["crf"] = "rather good"
        let error = #expect(throws: MediaError.self) { try CompressionSession(settings: settings) }
        #expect(error?.message.contains("crf") == true)
        #expect(error?.message.contains("rather good") == true)
    }

    @Test("An encoder that does not exist, and one that takes no such pictures, are different errors")
    func unusableEncoders() throws {
        let format = try TestPictures().format
        let missing = #expect(throws: MediaError.self) {
            try CompressionSession(settings: CompressionSettings(encoder: "libx999", video: format))
        }
        #expect(missing?.reason == .unsupported)
        let unfit = #expect(throws: MediaError.self) {
            try CompressionSession(settings: CompressionSettings(encoder: "prores_ks", video: format))
        }
        #expect(unfit?.reason == .invalidSettings)
        #expect(unfit?.message.contains("yuv420p") == true)
        let silent = #expect(throws: MediaError.self) {
            try CompressionSession(settings: CompressionSettings(encoder: "aac", video: format))
        }
        #expect(silent?.reason == .invalidSettings)
    }

    @Test("Times that do not rise are refused, and the session goes on")
    func timesMustRise() throws {
        let pictures = try TestPictures()
        let session = try CompressionSession(settings: TestEncoder.all[0].settings(pictures.format))
        var samples: [Sample] = []
        try session.encode(pictures.picture(0, pts: 5)) { samples.append($0) }
        let error = #expect(throws: MediaError.self) { try session.encode(pictures.picture(1, pts: 5)) { _ in } }
        #expect(error?.boundary == .timing)
        try session.encode(pictures.picture(1, pts: 6)) { samples.append($0) }
        try session.finish { samples.append($0) }
        #expect(samples.compactMap(\.pts).sorted() == [5, 6])
    }

    @Test("A time that the encoder's unit cannot hold is refused")
    func inexactTime() throws {
        let pictures = try TestPictures()
        let session = try CompressionSession(settings: TestEncoder.all[0].settings(pictures.format))
        let frame = try pictures.picture(0, pts: 0).retimed(pts: 1, duration: 0, timeBase: .mpeg)
        let error = #expect(throws: MediaError.self) { try session.encode(frame) { _ in } }
        #expect(error?.boundary == .timing)
        let fitting = frame.retimed(pts: 3600 * 7, duration: 3600, timeBase: .mpeg)
        var samples: [Sample] = []
        try session.encode(fitting) { samples.append($0) }
        try session.finish { samples.append($0) }
        #expect(samples.map(\.pts) == [7])
    }

    #if os(Linux)
        @Test("No encoder leaves this process in a real-time class, in which its threads would starve others")
        func scheduling() throws {
            let format = try #require(try TestPictures().pictures(1).first).format
            for encoder in TestEncoder.all where encoder.pixelFormat == "yuv420p" {
                let session = try CompressionSession(settings: encoder.settings(format))
                #expect(sched_getscheduler(0) == SCHED_OTHER, "\(encoder)")
                // Another test may be opening an encoder at this moment.
                let deadline = Date(timeIntervalSinceNow: 5)
                while !realTimeTasks().isEmpty, Date() < deadline { usleep(1000) }
                #expect(realTimeTasks().isEmpty, "\(encoder)")
                withExtendedLifetime(session) {}
            }
        }

        private func realTimeTasks() -> [pid_t] {
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            return tasks.compactMap(pid_t.init).filter { [SCHED_FIFO, SCHED_RR].contains(sched_getscheduler($0)) }
        }
    #endif

    @Test("A forced keyframe is a random access point", arguments: ["libx264", "libx265", "libvpx-vp9", "libsvtav1"])
    func forcedKeyframe(name: String) throws {
        guard let encoder = TestEncoder.all.first(where: { $0.name == name }) else { return }
        let pictures = try TestPictures()
        let session = try CompressionSession(settings: encoder.settings(pictures.format))
        var samples: [Sample] = []
        for (index, frame) in try pictures.pictures(20).enumerated() {
            try session.encode(frame, forceKeyframe: index == 11) { samples.append($0) }
        }
        try session.finish { samples.append($0) }
        #expect(samples.filter(\.isSync).compactMap(\.pts) == [0, 11])
        let tail = try #require(samples.firstIndex { $0.pts == 11 })
        #expect(try decode(Array(samples[tail...]), session.format).compactMap(\.pts) == Array(11..<20))
    }

    @Test("A session can be dropped at any point of its life", arguments: TestEncoder.all, [0, 1, 12])
    func canBeDropped(encoder: TestEncoder, count: Int) throws {
        let pictures = try TestPictures(pixelFormat: encoder.pixelFormat)
        let session = try CompressionSession(settings: encoder.settings(pictures.format))
        for frame in try pictures.pictures(count) { try session.encode(frame) { _ in } }
    }

    @Test("The decoder's picture types do not steer the encoder")
    func pictureTypesDoNotLeak() throws {
        let pictures = try TestPictures()
        var intra = TestEncoder.all[0].settings(pictures.format)
        intra.options["g"] = "1"
        let (samples, format) = try encode(pictures.pictures(12), intra)
        let decoded = try decode(samples, format)
        #expect(decoded.allSatisfy { $0.pictureType == .intra })
        let again = try encode(decoded, TestEncoder.all[0].settings(pictures.format))
        #expect(again.samples.filter(\.isSync).count == 1)
    }

    @Test("Colour, aspect and reorder depth are in the format description")
    func describesItself() throws {
        let colour = ColourDescription(
            primaries: "bt2020", transfer: "smpte2084", matrix: "bt2020nc", range: "tv", chromaLocation: "topleft")
        var format = try TestPictures(pixelFormat: "yuv420p10le", colour: colour).format
        format.sampleAspectRatio = Rational(4, 3)
        let pictures = TestPictures(pool: try PixelBufferPool(format: format))
        let (samples, description) = try encode(
            pictures.pictures(8), TestEncoder(name: "libx265", options: ["preset": "medium"]).settings(format))
        #expect(description.width == 160 && description.height == 90)
        #expect(description.pixelFormat == "yuv420p10le")
        #expect(description.reorderDepth == 2)
        #expect(!description.extradata.isEmpty)
        let decoded = try decode(samples, description)
        #expect(decoded.first?.colour == colour)
        #expect(decoded.first?.sampleAspectRatio == Rational(4, 3))
        #expect(decoded.first?.colour.isHighDynamicRange == true)
    }

    private static let display = MasteringDisplay(
        red: .init(x: 35_400, y: 14_600), green: .init(x: 8500, y: 39_850), blue: .init(x: 6550, y: 2300),
        white: .init(x: 15_635, y: 16_450), maximumLuminance: 10_000_000, minimumLuminance: 50)
    private static let light = ContentLight(maximum: 1000, maximumFrameAverage: 400)

    @Test("Static HDR metadata is in the bit stream and in the format description", arguments: ["libx264", "libx265"])
    func staticHDR(encoder: String) throws {
        let pictures = try TestPictures()
        var settings = CompressionSettings(encoder: encoder, video: pictures.format)
        settings.masteringDisplay = Self.display
        settings.contentLight = Self.light
        let (samples, format) = try encode(pictures.pictures(6), settings)
        #expect(format.attachments.compactMap { MasteringDisplay($0) } == [Self.display])
        #expect(format.attachments.compactMap { ContentLight($0) } == [Self.light])
        // Payload types 137 (24 bytes) and 144 (4 bytes), H.264 and H.265 Annex D. libavcodec 5.1 reads them from H.265 only.
        let stream = format.extradata + bytes(of: try #require(samples.first))
        #expect(zip(stream, stream.dropFirst()).contains { $0 == (137, 24) })
        #expect(zip(stream, stream.dropFirst()).contains { $0 == (144, 4) })
        guard encoder == "libx265" else { return }
        let first = try #require(try decode(samples, format).first)
        #expect(first.attachment(.masteringDisplay).flatMap { MasteringDisplay($0) } == Self.display)
        #expect(first.attachment(.contentLight).flatMap { ContentLight($0) } == Self.light)
    }

    @Test("SVT-AV1 takes static HDR metadata in its own notation")
    func staticHDRInAV1() throws {
        guard EncoderCatalog.encoder(named: "libsvtav1") != nil else { return }
        let pictures = try TestPictures(pixelFormat: "yuv420p10le")
        var settings = CompressionSettings(encoder: "libsvtav1", video: pictures.format)
        settings.options = ["preset": "12"]
        settings.masteringDisplay = Self.display
        settings.contentLight = Self.light
        let (samples, format) = try encode(pictures.pictures(4), settings)
        let first = try #require(try decode(samples, format).first)
        let display = try #require(first.attachment(.masteringDisplay).flatMap { MasteringDisplay($0) })
        #expect(abs(display.green.y - Self.display.green.y) <= 1)
        #expect(abs(display.maximumLuminance - Self.display.maximumLuminance) < 100)
        #expect(first.attachment(.contentLight).flatMap { ContentLight($0) } == settings.contentLight)
    }

    @Test("Captions travel through filter, encoder and decoder")
    func captionsSurvive() throws {
        let pictures = try TestPictures()
        let triplets: [UInt8] = [0xFC, 0x94, 0x20, 0xFC, 0xC8, 0xE5]
        let graph = try FilterGraph(description: "scale=96:64", input: pictures.format)
        var scaled: [Frame] = []
        for frame in try pictures.pictures(6) {
            try graph.process(frame.attaching(Attachment(kind: .captions, bytes: triplets))) { scaled.append($0) }
        }
        try graph.finish { scaled.append($0) }
        let format = try #require(graph.outputFormat)
        let (samples, description) = try encode(scaled, TestEncoder.all[0].settings(format))
        let decoded = try decode(samples, description)
        #expect(decoded.count == 6)
        #expect(decoded.allSatisfy { $0.attachment(.captions)?.bytes == triplets })
    }

    @Test("Interlaced pictures stay interlaced, with their field order", arguments: [true, false])
    func interlaced(topFirst: Bool) throws {
        let pictures = try TestPictures(height: 96)
        var settings = TestEncoder.all[0].settings(pictures.format)
        settings.scan = topFirst ? .topFieldFirst : .bottomFieldFirst
        let frames = try (0..<8).map { index in
            try pictures.pool.makeBuffer().frame(
                pts: Int64(index), timeBase: pictures.format.timeBase, isInterlaced: true, isTopFieldFirst: topFirst)
        }
        let (samples, format) = try encode(frames, settings)
        let decoded = try decode(samples, format)
        #expect(decoded.count == 8)
        #expect(decoded.allSatisfy { $0.isInterlaced && $0.isTopFieldFirst == topFirst })
    }
}
