internal import ClusterProtocol
internal import Foundation
internal import Media
internal import MediaTime

extension SourceEngine {
    static func capabilities() async throws(Failure) -> CapabilitiesReport {
        await BlockingThread.run("capabilities") {
            CapabilitiesReport(
                version: Version.number, libraries: LibraryVersions.all,
                cores: ProcessInfo.processInfo.activeProcessorCount,
                memoryBytes: Int64(clamping: ProcessInfo.processInfo.physicalMemory),
                encoders: EncoderCatalog.all.filter { $0.mediaType == .video }
                    .sorted {
                        ($0.codecName, $0.isHardware ? 1 : 0, $0.name) < ($1.codecName, $1.isHardware ? 1 : 0, $1.name)
                    }
                    .map(CapabilitiesReport.Encoder.init))
        }
    }
}

extension CapabilitiesReport.Encoder {
    /// Really opens the encoder: a device, a driver or a session limit tells itself only then.
    fileprivate init(_ encoder: EncoderCatalog.Encoder) {
        let reason = Self.obstacle(encoder)
        self.init(
            name: encoder.name, codec: encoder.codecName, hardware: encoder.isHardware, usable: reason == nil,
            pixelFormats: encoder.pixelFormats, reason: reason)
    }

    private static func obstacle(_ encoder: EncoderCatalog.Encoder) -> String? {
        guard let timeBase = TimeBase(numerator: 1, denominator: 25) else { return nil }
        let formats = encoder.pixelFormats
        let pixelFormat = formats.contains("yuv420p") || formats.isEmpty ? "yuv420p" : formats[0]
        // CIF: a size that even the oldest codecs take.
        let format = FrameFormat(
            width: 352, height: 288, pixelFormat: pixelFormat, timeBase: timeBase, frameRate: Rational(25, 1))
        do {
            _ = try CompressionSession(settings: CompressionSettings(encoder: encoder.name, video: format))
            return nil
        } catch {
            return error.log.last.map(withoutAddress) ?? error.description
        }
    }

    /// "[libx264 @ 0x55…] words" → "words".
    private static func withoutAddress(_ line: String) -> String {
        guard line.hasPrefix("["), let end = line.firstIndex(of: "]") else { return line }
        return line[line.index(after: end)...].trimmingCharacters(in: .whitespaces)
    }
}
