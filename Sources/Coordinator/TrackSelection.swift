internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess
internal import Stitching

/// Decides for every track of the source whether it is copied, encoded or named as a loss.
struct TrackSelection {
    private let order: ExportOrder
    private let demuxer: Demuxer
    private let video: Track
    private let container: Container
    private(set) var carried: [CarriedTrack] = []
    private(set) var warnings: [String] = []
    private(set) var losses: [String] = []
    /// Source time at which the first carried sound is heard.
    private(set) var earliestStart: MediaTime?
    /// Bits a second of all carried tracks, for a size in bytes.
    private(set) var expectedBitrate: Int64 = 0

    init(order: ExportOrder, demuxer: Demuxer, video: Track, container: Container) {
        self.order = order
        self.demuxer = demuxer
        self.video = video
        self.container = container
    }

    mutating func choose() throws(Failure) {
        for track in demuxer.tracks where track.index != video.index {
            switch track.mediaType {
            case .audio: try chooseSound(track)
            case .subtitle: chooseSubtitle(track)
            case .video: lose(track, "a second picture track")
            case .data, .attachment, .unknown: lose(track, "a \(track.mediaType.rawValue) track")
            }
        }
    }

    private mutating func lose(_ track: Track, _ what: String) {
        losses.append("Track \(track.index) (\(track.format.codecName)), \(what), is not carried.")
    }

    // MARK: Sound

    private mutating func chooseSound(_ track: Track) throws(Failure) {
        guard order.settings.audioCodec != .none else { return }
        guard !track.isEncrypted else {
            losses.append("Track \(track.index) (\(track.format.codecName)) is encrypted and is not carried.")
            return
        }
        guard track.format.sampleRate > 0, track.format.channelLayout != nil else {
            lose(track, "sound whose format nothing tells")
            return
        }
        let codec = try soundCodec(for: track)
        if let start = try? heardStart(of: track) { earliestStart = min(earliestStart ?? start, start) }
        guard codec != .copy else {
            carried.append(CarriedTrack(track: track.index))
            expectedBitrate += 192_000
            return
        }
        guard let encoder = EncoderCatalog.defaultEncoder(for: codec.rawValue) else {
            throw Failure(
                .encoder, "This FFmpeg has no encoder for \(codec.rawValue).", advice: "Choose another --audio.",
                fault: .settings, exitCode: .usage)
        }
        let bitrate = order.settings.audioBitrate ?? 0
        expectedBitrate += bitrate > 0 ? bitrate : 128_000
        carried.append(
            CarriedTrack(
                track: track.index,
                encoding: .init(encoder: encoder, bitrate: bitrate, globalHeader: container != .mpegTS)))
    }

    /// What was asked for; where copying was only the default and the container cannot hold the codec, its natural one.
    private mutating func soundCodec(for track: Track) throws(Failure) -> ExportSettings.AudioCodec {
        let wanted = order.settings.audioCodec
        let codec = wanted == .copy ? track.format.codecName : wanted.rawValue
        if container.canHold(codec: codec) { return wanted }
        guard wanted == .copy, !order.stated.contains("audio") else {
            throw Failure(
                .format, "\(container) cannot hold \(codec).",
                advice: "Choose --audio \(naturalCodec.rawValue), or another container.", fault: .settings,
                exitCode: .usage)
        }
        warnings.append(
            "\(container) cannot hold \(codec): track \(track.index) is encoded as \(naturalCodec.rawValue).")
        return naturalCodec
    }

    private var naturalCodec: ExportSettings.AudioCodec { container == .webm ? .opus : .aac }

    /// When the track is first heard: its priming (pre-skip, encoder delay) comes before that.
    private func heardStart(of track: Track) throws -> MediaTime? {
        guard var ticks = track.startTicks else { return nil }
        let isDiscontinuous = ContainerAccess(demuxer.containerName).isDiscontinuous
        if let picture = video.startTicks, track.timeBase == video.timeBase {
            // The clock may wrap between the first sound and the first picture.
            let wrap = TimestampWrap(timeBase: track.timeBase, isEnabled: isDiscontinuous)
            ticks = Int64(clamping: wrap.unwrapped(ticks, near: Int128(picture)))
        }
        let start = try MediaTime(ticks: ticks, in: track.timeBase)
        // Matroska keeps Opus' pre-skip inside the track's times (RFC 7845 §4.2, CodecDelay).
        guard demuxer.isMatroska, track.format.initialPadding > 0 else { return start }
        return try start.adding(
            MediaTime(value: Int64(track.format.initialPadding), timescale: Int32(clamping: track.format.sampleRate)))
    }

    // MARK: Subtitles

    private mutating func chooseSubtitle(_ track: Track) {
        if container.canHold(codec: track.format.codecName) {
            carried.append(CarriedTrack(track: track.index))
        } else {
            losses.append(
                "Track \(track.index) (\(track.format.codecName) subtitles) is not carried: \(container) cannot hold it."
            )
        }
    }
}
