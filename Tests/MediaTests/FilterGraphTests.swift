import Foundation
import MediaTime
import Testing

@testable import Media

@Suite struct FilterGraphTests {
    private func run(_ graph: FilterGraph, _ frames: [Frame]) throws -> [Frame] {
        var output: [Frame] = []
        for frame in frames { try graph.process(frame) { output.append($0) } }
        try graph.finish { output.append($0) }
        return output
    }

    @Test("Scales and converts, and keeps every time")
    func scalesAndConverts() throws {
        let pictures = try TestPictures(timeBase: .mpeg)
        let frames = try (0..<10).map { try pictures.picture($0, pts: Int64($0 * $0 * 1001 + 7), duration: 1001) }
        let graph = try FilterGraph(
            description: "scale=96:48", input: pictures.format, outputPixelFormat: "yuv420p10le")
        let output = try run(graph, frames)
        #expect(output.map(\.pts) == frames.map(\.pts))
        #expect(output.map(\.duration) == frames.map(\.duration))
        #expect(output.allSatisfy { $0.width == 96 && $0.height == 48 && $0.pixelFormat == "yuv420p10le" })
        let format = try #require(graph.outputFormat)
        #expect(format.width == 96 && format.height == 48 && format.pixelFormat == "yuv420p10le")
        #expect(format.timeBase == .mpeg)
    }

    @Test("An empty chain passes frames through untouched unless the format must change")
    func emptyChain() throws {
        let pictures = try TestPictures()
        #expect(try FilterGraph(description: "", input: pictures.format).isPassThrough)
        #expect(try FilterGraph(description: "", input: pictures.format, outputPixelFormat: "yuv420p").isPassThrough)
        let converting = try FilterGraph(description: "", input: pictures.format, outputPixelFormat: "yuv444p")
        #expect(!converting.isPassThrough)
        #expect(try run(converting, pictures.pictures(2)).allSatisfy { $0.pixelFormat == "yuv444p" })
    }

    @Test("A filter that changes the rate answers in the input's unit")
    func changesRate() throws {
        let pictures = try TestPictures(timeBase: .mpeg)
        let frames = try (0..<10).map { try pictures.picture($0, pts: Int64($0) * 3600, duration: 3600) }
        let graph = try FilterGraph(description: "fps=50", input: pictures.format)
        let output = try run(graph, frames)
        #expect(output.compactMap(\.pts) == (0..<20).map { $0 * 1800 })
        #expect(output.allSatisfy { $0.timeBase == .mpeg && $0.duration == 1800 })
        #expect(graph.outputFormat?.frameRate == Rational(50, 1))
    }

    @Test("HDR attachments come out of the chain")
    func keepsAttachments() throws {
        let pictures = try TestPictures(pixelFormat: "yuv420p10le")
        let attachments = [
            ContentLight(maximum: 1000, maximumFrameAverage: 400).attachment,
            MasteringDisplay(
                red: .init(x: 1, y: 2), green: .init(x: 3, y: 4), blue: .init(x: 5, y: 6), white: .init(x: 7, y: 8),
                maximumLuminance: 9, minimumLuminance: 1
            ).attachment,
            Attachment(kind: .dolbyVisionRPU, bytes: [25, 8, 9]), Attachment(kind: .hdr10Plus, bytes: [1, 2, 3]),
        ]
        var frame = try pictures.picture(0, pts: 0)
        for attachment in attachments { frame = try frame.attaching(attachment) }
        let graph = try FilterGraph(description: "scale=96:48,hqdn3d", input: pictures.format)
        let output = try #require(try run(graph, [frame]).first)
        for attachment in attachments { #expect(output.attachment(attachment.kind) == attachment) }
    }

    @Test(
        "A chain that is not understood is an error with the filter's own words",
        arguments: ["scal=1:2", "scale=w=x:h"])
    func badDescription(text: String) throws {
        let format = try TestPictures().format
        let error = #expect(throws: MediaError.self) { try FilterGraph(description: text, input: format) }
        #expect(error?.boundary == .filter)
        #expect(error?.message.contains(text) == true)
        #expect(error?.log.isEmpty == false)
    }

    @Test("A frame of another format is refused, not filtered wrongly")
    func otherFormat() throws {
        let graph = try FilterGraph(description: "hflip", input: try TestPictures().format)
        let other = try TestPictures(width: 128).picture(0, pts: 0)
        #expect(!graph.accepts(other))
        let error = #expect(throws: MediaError.self) { try graph.process(other) { _ in } }
        #expect(error?.reason == .invalidSettings)
    }

    @Test("Two graphs of one description make equal pixels")
    func isReproducible() throws {
        let pictures = try TestPictures()
        let frames = try pictures.pictures(6)
        let text = "scale=300:200:flags=lanczos,unsharp,hqdn3d"
        let first = try run(FilterGraph(description: text, input: pictures.format), frames)
        let second = try run(FilterGraph(description: text, input: pictures.format), frames)
        #expect(first.map(pixels(of:)) == second.map(pixels(of:)))
    }

    @Test("Sound is resampled and cut into the encoder's frame size without a lost sample")
    func sound() throws {
        let input = try #require(AudioFormat(sampleRate: 48_000, sampleFormat: "fltp", channelLayout: "stereo"))
        let output = try #require(AudioFormat(sampleRate: 48_000, sampleFormat: "s16", channelLayout: "mono"))
        let graph = try FilterGraph(input: input, output: output, frameSize: 1024)
        let frames = try run(graph, TestSound.frames(input, count: 7, size: 1000))
        #expect(frames.map(\.sampleCount) == [1024, 1024, 1024, 1024, 1024, 1024, 856])
        #expect(frames.compactMap(\.pts) == (0..<7).map { $0 * 1024 })
        #expect(graph.outputAudioFormat?.channelLayout == "mono")
        #expect(frames.allSatisfy { $0.audioFormat?.sampleFormat == "s16" })
    }
}
