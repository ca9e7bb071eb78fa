import Testing

@testable import Media

@Suite struct EncoderCatalogTests {
    @Test("Every encoder has a codec, and a lookup finds it")
    func lookup() {
        #expect(EncoderCatalog.all.count > 50)
        #expect(
            EncoderCatalog.all.allSatisfy { !$0.codecName.isEmpty && EncoderCatalog.encoder(named: $0.name) != nil })
        #expect(EncoderCatalog.encoder(named: "libx999") == nil)
    }

    @Test("x264 is described as it is")
    func x264() throws {
        let encoder = try #require(EncoderCatalog.encoder(named: "libx264"))
        #expect(encoder.codecName == "h264" && encoder.mediaType == .video && !encoder.isHardware)
        #expect(encoder.pixelFormats.contains("yuv420p10le"))
        #expect(encoder.profiles.contains("High"))
    }

    @Test("Defaults exist in this build and are software")
    func defaults() {
        #expect(EncoderCatalog.defaultEncoder(for: "h264") == "libx264")
        for codec in ["h264", "hevc", "av1", "vp9", "prores", "aac", "opus", "flac"] {
            let name = EncoderCatalog.defaultEncoder(for: codec)
            #expect(
                name.flatMap { EncoderCatalog.encoder(named: $0) }.map { $0.codecName == codec && !$0.isHardware }
                    == true)
        }
        for name in EncoderCatalog.hardwareEncoders(of: "h264") {
            #expect(EncoderCatalog.encoder(named: name)?.isHardware == true)
        }
    }
}
