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
    /// What is carried in another form, or beside what one would look for.
    private(set) var conversions: [String] = []
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
        let sounds = try SoundSelection(order.settings, demuxer.tracks, source: order.source)
        losses += sounds.remarks
        for track in sounds.chosen { try chooseSound(track) }
        for track in demuxer.tracks where track.index != video.index {
            switch track.mediaType {
            case .audio: continue
            case .subtitle: chooseSubtitle(track)
            case .video: choosePicture(track)
            case .data: chooseData(track)
            case .attachment, .unknown: chooseAttachment(track)
            }
        }
        // Sound that nobody arranged keeps its place among the other tracks.
        guard order.settings.audioMap == nil, order.settings.audioLanguages == nil else { return }
        carried.sort { $0.track < $1.track }
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
        // Their decoders and containers can do nothing without the headers (Vorbis I §4.2, FLAC §9).
        if ["vorbis", "flac"].contains(track.format.codecName), track.format.extradata.isEmpty {
            return lose(track, "\(track.format.codecName) sound whose headers are missing")
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

    /// Text is converted to what the container holds; pictures of text are copied or lost.
    private mutating func chooseSubtitle(_ track: Track) {
        guard order.settings.subtitles != .none else { return }
        let codec = track.format.codecName
        if container.canHold(codec: codec) {
            carried.append(CarriedTrack(track: track.index))
        } else if SubtitleSession.reads(codec: codec), let encoder = container.textEncoder {
            carried.append(CarriedTrack(track: track.index, textEncoder: encoder))
            conversions.append("Subtitle track \(track.index) (\(codec)) becomes \(encoder).")
            if let session = try? SubtitleSession(from: track.format, encoder: encoder, timeBase: track.timeBase),
                session.styleNames.contains(where: { $0 != "Default" })
            {
                losses.append(
                    "The styles of subtitle track \(track.index) (\(codec)) are not carried: \(encoder) in \(container) "
                        + "has no named styles and no positions; the text and its times are kept.")
            }
        } else {
            losses.append(
                "Track \(track.index) (\(codec) subtitles) is not carried: \(container) cannot hold it."
                    + (Container.matroska.canHold(codec: codec) ? " Matroska holds it." : ""))
        }
    }

    // MARK: Pictures, data and attached files

    private mutating func choosePicture(_ track: Track) {
        let codec = track.format.codecName
        if track.disposition.contains(.attachedPicture) {
            let isHeld = container == .matroska || (container.isMovie && ["mjpeg", "png"].contains(codec))
            guard isHeld else { return lose(track, "a cover picture") }
            return carried.append(CarriedTrack(track: track.index, isEnclosure: true))
        }
        guard !track.isEncrypted, container.canHold(codec: codec) else { return lose(track, "a second picture track") }
        // A copy can begin at a keyframe only, and where that is, its own index would tell.
        guard order.settings.start == nil else {
            return lose(track, "a second picture track, which a part of the source cannot have as a copy")
        }
        guard !container.isMatroska || track.segments.isEmpty || !startsInsideGroup(track) else {
            return lose(track, "a second picture track with an edit list")
        }
        carried.append(CarriedTrack(track: track.index))
        conversions.append("Track \(track.index) (\(codec)), a second picture track, is copied.")
        expectedBitrate += 1_000_000
    }

    /// Samples before the edit list's start would be shown where only presentation times are held.
    private func startsInsideGroup(_ track: Track) -> Bool { (track.startTicks ?? 0) < 0 }

    private mutating func chooseData(_ track: Track) {
        let tag = track.format.codecTag
        // Chapters and timecode are carried as such.
        if tag == "tmcd", container.isMovie || container.isMatroska { return }
        if ["text", "tx3g"].contains(tag), !demuxer.chapters.isEmpty { return }
        let isHeld =
            tag == "gpmd" ? container.isMovie : container == .mpegTS && container.canHold(codec: track.format.codecName)
        guard isHeld else {
            let name = tag.isEmpty ? "data" : "'\(tag)' data"
            return lose(track, "a track of \(name) that \(container) or libavformat has no form for")
        }
        carried.append(CarriedTrack(track: track.index))
    }

    private mutating func chooseAttachment(_ track: Track) {
        guard container == .matroska, track.mediaType == .attachment, !track.format.extradata.isEmpty else {
            let name = track.metadata["filename"].map { " “\($0)”" } ?? ""
            return lose(track, "an attached file\(name)")
        }
        carried.append(CarriedTrack(track: track.index, isEnclosure: true))
    }
}

extension Container {
    /// libavcodec's encoder of the container's own text subtitles; `nil` where it has none.
    fileprivate var textEncoder: String? {
        if isMovie { return "mov_text" }
        if self == .webm { return "webvtt" }
        return self == .matroska ? "subrip" : nil
    }
}
