internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

extension SourceEngine {
    static func probe(_ source: String) async throws(Failure) -> ProbeReport {
        let asset = Asset(location: source)
        do {
            let (tracks, chapters, metadata) = try await asset.load(.tracks, .chapters, .metadata)
            let (container, size) = try await asset.load(.containerName, .byteCount)
            let (duration, start) = try await asset.load(.duration, .startTime)
            return ProbeReport(
                source: source, container: container, size: size, duration: duration.isNumeric ? duration : nil,
                start: start.isNumeric ? start : nil, metadata: dictionary(metadata),
                tracks: tracks.map(ProbeReport.Track.init), chapters: chapters.compactMap(ProbeReport.Chapter.init),
                warnings: warnings(tracks))
        } catch {
            throw Failure(error, role: .source)
        }
    }

    private static func warnings(_ tracks: [Track]) -> [String] {
        var warnings = tracks.filter(\.isEncrypted).map { "Track \($0.index) is encrypted: it cannot be decoded here." }
        if PictureTrack.all(of: tracks).isEmpty { warnings.append("There is no video track: nothing to export.") }
        return warnings
    }

    fileprivate static func dictionary(_ metadata: Metadata) -> [String: String] {
        Dictionary(metadata.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

extension ProbeReport.Track {
    fileprivate init(_ track: Track) {
        let format = track.format
        let isPicture = track.mediaType == .video
        self.init(
            index: track.index, kind: track.mediaType.rawValue,
            codec: format.codecName == "none" ? format.codecTag : format.codecName,
            profile: format.profileName,
            language: track.language, timescale: track.timeBase.denominator,
            start: Self.time(track.startTicks, track.timeBase),
            duration: Self.time(track.durationTicks, track.timeBase),
            bitrate: format.bitrate, width: isPicture ? format.width : nil, height: isPicture ? format.height : nil,
            pixelFormat: format.pixelFormat, frameRate: isPicture ? Self.rate(track) : nil,
            sampleAspectRatio: isPicture ? track.sampleAspectRatio.map { "\($0.numerator):\($0.denominator)" } : nil,
            colour: isPicture ? Self.colour(format.colour) : nil, rotation: isPicture ? track.rotation : nil,
            sampleRate: format.sampleRate > 0 ? format.sampleRate : nil, channels: format.channelLayout,
            attachments: track.attachments.map(\.kind.rawValue), metadata: SourceEngine.dictionary(track.metadata),
            edits: track.segments.count)
    }

    private static func time(_ ticks: Int64?, _ timeBase: TimeBase) -> MediaTime? {
        ticks.flatMap { try? MediaTime(ticks: $0, in: timeBase) }
    }

    private static func rate(_ track: Track) -> String? {
        (track.averageFrameRate ?? track.realFrameRate).map { rate in
            rate.denominator == 1 ? "\(rate.numerator)" : "\(rate.numerator)/\(rate.denominator)"
        }
    }

    private static func colour(_ colour: ColourDescription) -> String? {
        let parts = [colour.primaries, colour.transfer, colour.matrix, colour.range]
        return parts.contains { $0 != nil } ? parts.map { $0 ?? "?" }.joined(separator: "/") : nil
    }
}

extension ProbeReport.Chapter {
    /// `nil` for a chapter whose times no number can tell.
    fileprivate init?(_ chapter: Chapter) {
        guard let start = try? MediaTime(ticks: chapter.start, in: chapter.timeBase),
            let end = try? MediaTime(ticks: chapter.end, in: chapter.timeBase)
        else { return nil }
        self.init(title: chapter.title ?? "", start: start, end: end)
    }
}
