import Foundation
import MediaTime
import Support
import Testing

@testable import Media

@Suite struct DecompressionSessionTests {
    private func stream(_ count: Int = 30) throws -> (samples: [Sample], format: FormatDescription) {
        let pictures = try TestPictures()
        var settings = TestEncoder.all[0].settings(pictures.format)
        settings.options["g"] = "10"
        settings.options["sc_threshold"] = "0"
        return try encode(pictures.pictures(count), settings)
    }

    private func sample(like original: Sample, _ bytes: [UInt8], isDiscarded: Bool = false) throws -> Sample {
        try bytes.withUnsafeBytes { raw throws(MediaError) in
            try Sample(
                bytes: raw, format: original.format, timeBase: original.timeBase, pts: original.pts, dts: original.dts,
                duration: original.duration, isSync: original.isSync, isDiscarded: isDiscarded, attachments: [])
        }
    }

    @Test("Bad bytes between good samples are an error that the session survives")
    func survivesGarbage() throws {
        let (samples, format) = try stream()
        let session = try DecompressionSession(format: format, timeBase: try #require(samples.first).timeBase)
        var random = SeededRandom(seed: 3)
        var frames: [Frame] = []
        var errors: [MediaError] = []
        for (index, good) in samples.enumerated() {
            if index % 5 == 4 {
                let garbage = try sample(like: good, (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) })
                do throws(MediaError) {
                    try session.decode(garbage) { frames.append($0) }
                } catch {
                    errors.append(error)
                }
            }
            try session.decode(good) { frames.append($0) }
        }
        try session.finish { frames.append($0) }
        #expect(!errors.isEmpty)
        #expect(errors.allSatisfy { $0.boundary == .decoder && $0.reason == .invalidData })
        #expect(frames.compactMap(\.pts) == Array(0..<30))
    }

    @Test("Discarded samples are decoded for reference only", arguments: TestEncoder.all.map(\.name))
    func discarded(name: String) throws {
        let encoder = try #require(TestEncoder.all.first { $0.name == name })
        let pictures = try TestPictures(pixelFormat: encoder.pixelFormat)
        let (samples, format) = try encode(pictures.pictures(20), encoder.settings(pictures.format))
        let marked = try samples.map { original in
            try sample(like: original, bytes(of: original), isDiscarded: (original.pts ?? 0) < 7)
        }
        let whole = try decode(samples, format)
        let decoded = try decode(marked, format)
        #expect(decoded.compactMap(\.pts) == Array(7..<20))
        #expect(decoded.map(pixels(of:)) == whole.dropFirst(7).map(pixels(of:)))
    }

    @Test("After a flush the session decodes from a random access point as if new")
    func flushes() throws {
        let (samples, format) = try stream()
        let session = try DecompressionSession(format: format, timeBase: try #require(samples.first).timeBase)
        for sample in samples.prefix(7) { try session.decode(sample) { _ in } }
        session.flush()
        let entry = try #require(samples.firstIndex { $0.isSync && $0.pts == 10 })
        var frames: [Frame] = []
        for sample in samples[entry...] { try session.decode(sample) { frames.append($0) } }
        try session.finish { frames.append($0) }
        #expect(frames.compactMap(\.pts) == Array(10..<30))
        session.flush()
        frames = []
        for sample in samples { try session.decode(sample) { frames.append($0) } }
        try session.finish { frames.append($0) }
        #expect(frames.count == 30)
    }

    @Test("More threads give the same pictures at the same times", arguments: TestEncoder.all.map(\.name))
    func threadsChangeNothing(name: String) throws {
        let encoder = try #require(TestEncoder.all.first { $0.name == name })
        let pictures = try TestPictures(pixelFormat: encoder.pixelFormat)
        let (samples, format) = try encode(pictures.pictures(20), encoder.settings(pictures.format))
        let one = try decode(samples, format)
        let three = try decode(samples, format, .init(threads: 3))
        #expect(one.map(\.pts) == three.map(\.pts))
        #expect(one.map(pixels(of:)) == three.map(pixels(of:)))
    }

    @Test("What the receiver throws is passed on")
    func passesErrorsOn() throws {
        let (samples, format) = try stream()
        let session = try DecompressionSession(format: format, timeBase: try #require(samples.first).timeBase)
        let error = #expect(throws: MediaError.self) {
            for sample in samples {
                try session.decode(sample) { _ throws(MediaError) in
                    throw MediaError(.cancelled, .cancelled, "Enough.")
                }
            }
        }
        #expect(error?.message == "Enough.")
    }

    @Test("A sample in another unit of time is refused")
    func otherTimeBase() throws {
        let (samples, format) = try stream(3)
        let session = try DecompressionSession(format: format, timeBase: .mpeg)
        let error = #expect(throws: MediaError.self) { try session.decode(samples[0]) { _ in } }
        #expect(error?.boundary == .timing)
    }

    @Test("Without timestamps the decoder's best guess is used, and none is made up")
    func missingTimes() throws {
        let (samples, format) = try stream(10)
        let untimed = samples.map { $0.retimed(pts: nil, dts: nil, duration: 0, timeBase: $0.timeBase) }
        let frames = try decode(untimed, format)
        #expect(frames.count == 10)
        #expect(frames.allSatisfy { $0.pts == nil })
    }

    @Test("A decoder that does not exist and an unknown option are named")
    func unusableSettings() throws {
        let (samples, format) = try stream(2)
        let timeBase = samples[0].timeBase
        let missing = #expect(throws: MediaError.self) {
            try DecompressionSession(format: format, timeBase: timeBase, settings: .init(decoder: "crystal-ball"))
        }
        #expect(missing?.reason == .unsupported)
        #expect(missing?.message.contains("crystal-ball") == true)
        let unknown = #expect(throws: MediaError.self) {
            try DecompressionSession(format: format, timeBase: timeBase, settings: .init(options: ["wand": "1"]))
        }
        #expect(unknown?.message.contains("wand") == true)
    }
}
