import ClusterProtocol
import Media
import MediaTime
import Testing

@testable import Coordinator

@Suite struct PictureChainTests {
    private static let turned: [Int32] = [0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30]

    private func source(
        colour: ColourDescription = .unspecified, scan: CompressionSettings.Scan = .progressive,
        transform: [Int32]? = nil, light: ContentLight? = nil
    ) -> PictureChain.Source {
        PictureChain.Source(
            format: FrameFormat(
                width: 64, height: 48, pixelFormat: "yuv420p10le", timeBase: .milliseconds, colour: colour),
            scan: scan, contentLight: light, transform: transform)
    }

    @Test("Nothing asked for is no filter at all")
    func nothing() throws {
        let chain = try PictureChain(ExportSettings(), source: source(scan: .topFieldFirst, transform: Self.turned))
        #expect(chain.filter.isEmpty && chain.margin == 0 && chain.keepsFrames && !chain.turnsPixels)
    }

    @Test("Deinterlacing on demand leaves a progressive source alone")
    func deinterlace() throws {
        var settings = ExportSettings()
        settings.deinterlace = "auto"
        #expect(try PictureChain(settings, source: source()).filter.isEmpty)
        let chain = try PictureChain(settings, source: source(scan: .bottomFieldFirst))
        #expect(chain.filter.hasPrefix("bwdif") && chain.margin == 2 && chain.keepsFrames)
    }

    @Test("The parts come in the order deinterlace, tone, turn, user's own")
    func order() throws {
        var settings = ExportSettings()
        settings.deinterlace = "auto"
        settings.toneMapping = .sdr
        settings.appliesRotation = true
        settings.filter = "eq=gamma=1.1"
        let pq = ColourDescription(primaries: "bt2020", transfer: "smpte2084", matrix: "bt2020nc", range: "tv")
        let chain = try PictureChain(
            settings,
            source: source(
                colour: pq, scan: .topFieldFirst, transform: Self.turned,
                light: ContentLight(maximum: 400, maximumFrameAverage: 100)))
        let names = FilterTraits.filters(of: chain.filter).map(\.name)
        #expect(
            names == ["bwdif", "zscale", "format", "zscale", "tonemap", "zscale", "format", "transpose", "eq"])
        #expect(chain.filter.contains("peak=4.0"))
        #expect(chain.mapsTone && chain.turnsPixels)
    }

    @Test("Tone mapping of what is no high dynamic range is told to have no effect")
    func noHDR() throws {
        var settings = ExportSettings()
        settings.toneMapping = .sdr
        let chain = try PictureChain(settings, source: source(colour: ColourDescription(transfer: "bt709")))
        #expect(chain.filter.isEmpty && chain.warnings.count == 1)
    }

    @Test("Fields cannot be turned by 90 degrees, and a skewed picture cannot be turned at all")
    func refuses() throws {
        var settings = ExportSettings()
        settings.appliesRotation = true
        #expect(throws: Failure.self) {
            try PictureChain(settings, source: source(scan: .topFieldFirst, transform: Self.turned))
        }
        let skewed: [Int32] = [46341, 46341, 0, -46341, 46341, 0, 0, 0, 1 << 30]
        #expect(throws: Failure.self) { try PictureChain(settings, source: source(transform: skewed)) }
    }

    @Test("Unasked conversions are told: depth, chroma, colour model, range")
    func conversions() {
        func conversion(
            _ from: String, _ to: String, range: String? = nil, signals: Bool = true
        ) -> PixelConversion {
            let format = FrameFormat(width: 64, height: 48, pixelFormat: from, timeBase: .milliseconds)
            return PixelConversion(
                from: format, colour: ColourDescription(range: range), to: to, encoder: "x", signalsRange: signals)
        }
        #expect(conversion("yuv420p", "yuv420p").filter.isEmpty)
        #expect(conversion("yuvj420p", "yuvj420p", range: "pc").filter.isEmpty)
        #expect(conversion("yuv444p", "yuv420p").warnings.count == 1)
        #expect(conversion("yuv422p12le", "yuv420p10le").warnings.count == 2)
        #expect(conversion("yuv420p", "yuv422p10le").warnings.isEmpty)
        #expect(conversion("gbrp", "yuv444p").colour.matrix == "bt709")
        let kept = conversion("yuvj420p", "yuv420p", range: "pc")
        #expect(kept.colour.range == "pc" && kept.filter.contains("out_range=pc") && kept.warnings.isEmpty)
        let limited = conversion("yuvj420p", "yuv422p10le", range: "pc", signals: false)
        #expect(limited.colour.range == "tv" && limited.filter.contains("out_range=tv") && limited.warnings.count == 1)
    }
}
