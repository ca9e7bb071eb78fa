import Foundation
import MediaTime
import Testing

@testable import Media

@Suite struct SoundSessionTests {
    @Test("Sound comes back with its first sample at time zero", arguments: ["aac", "libopus", "flac"])
    func roundTrip(name: String) throws {
        let encoder = try #require(EncoderCatalog.encoder(named: name))
        let source = try #require(AudioFormat(sampleRate: 48_000, sampleFormat: "fltp", channelLayout: "stereo"))
        let wanted = try #require(
            AudioFormat(
                sampleRate: 48_000, sampleFormat: encoder.sampleFormats.first { $0 == "fltp" || $0 == "s16" } ?? "flt",
                channelLayout: "stereo"))
        var settings = CompressionSettings(encoder: name, audio: wanted)
        if name != "flac" { settings.bitrate = 128_000 }
        let session = try CompressionSession(settings: settings)
        let graph = try FilterGraph(input: source, output: wanted, frameSize: session.frameSize)
        var samples: [Sample] = []
        let receive = { (frame: Frame) throws(MediaError) in try session.encode(frame) { samples.append($0) } }
        for frame in try TestSound.frames(source, count: 50, size: 1000) { try graph.process(frame, output: receive) }
        try graph.finish(output: receive)
        try session.finish { samples.append($0) }
        #expect(!session.format.extradata.isEmpty)

        let frames = try decode(samples, session.format)
        // Priming is either cut by the decoder (marked in the sample) or lies before time zero (marked by the container).
        let owned = frames.filter { ($0.pts ?? -1) >= 0 }
        #expect(owned.first?.pts.map { $0 < 1024 } == true)
        let count = owned.reduce(0) { $0 + $1.sampleCount }
        #expect(count >= 50_000 - 1024 && count < 50_000 + 2048)
        for (left, right) in zip(frames, frames.dropFirst()) {
            #expect(left.pts.map { $0 + Int64(left.sampleCount) } == right.pts)
        }
    }

    @Test("Two sound encodes return equal bytes", arguments: ["aac", "libopus", "flac"])
    func isReproducible(name: String) throws {
        let sampleFormat = name == "aac" ? "fltp" : name == "flac" ? "s16" : "flt"
        let source = try #require(AudioFormat(sampleRate: 48_000, sampleFormat: "fltp", channelLayout: "stereo"))
        let format = try #require(
            AudioFormat(sampleRate: 48_000, sampleFormat: sampleFormat, channelLayout: "stereo"))
        func run() throws -> [[UInt8]] {
            let session = try CompressionSession(settings: CompressionSettings(encoder: name, audio: format))
            let graph = try FilterGraph(input: source, output: format, frameSize: session.frameSize)
            var samples: [[UInt8]] = []
            let receive = { (frame: Frame) throws(MediaError) in
                try session.encode(frame) { samples.append(bytes(of: $0)) }
            }
            for frame in try TestSound.frames(source, count: 20, size: 960) {
                try graph.process(frame, output: receive)
            }
            try graph.finish(output: receive)
            try session.finish { samples.append(bytes(of: $0)) }
            return samples
        }
        #expect(try run() == run())
    }
}
