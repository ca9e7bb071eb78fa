internal import ClusterProtocol
internal import MediaTime
internal import SegmentPlan

/// Reads merged settings as values, and complains in the words of the place that stated them.
struct SettingReader: Sendable {
    let layer: SettingLayer
    let command: String

    func text(_ option: String) -> String? { layer.values[option]?.last }

    func isOn(_ option: String) -> Bool { layer.values[option] != nil }

    func complaint(_ option: String, _ message: String) -> any Error {
        layer.complaint(option, message, command: command)
    }

    func count(_ option: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = text(option) else { return nil }
        guard let number = Quantity.count(text, in: range) else {
            throw complaint(
                option, "'\(text)' is not a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    func number(_ option: String, in range: ClosedRange<Double>) throws -> Double? {
        guard let text = text(option) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw complaint(option, "'\(text)' is not a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    func rate(_ option: String) throws -> Int64? {
        guard let text = text(option) else { return nil }
        guard let rate = Quantity.rate(text) else {
            throw complaint(option, "'\(text)' is not a rate; write bits a second, such as 4M or 800k.")
        }
        return rate
    }

    func size(_ option: String) throws -> Int64? {
        guard let text = text(option) else { return nil }
        guard let size = Quantity.size(text) else {
            throw complaint(option, "'\(text)' is not a size; write bytes, such as 700MB or 1GiB.")
        }
        return size
    }

    /// Seconds.
    func span(_ option: String) throws -> Double? {
        guard let text = text(option) else { return nil }
        guard let seconds = Quantity.span(text) else {
            throw complaint(option, "'\(text)' is not a duration; write 90s, 30m, 24h, 7d, 2w, 0 or forever.")
        }
        return seconds
    }

    func time(_ option: String) throws -> MediaTime? {
        guard let text = text(option) else { return nil }
        guard let time = MediaTime(text: text), time.isNumeric, time >= .zero else {
            throw complaint(option, "'\(text)' is not a time; write seconds (90, 12.5, 30000/1001) or [HH:]MM:SS[.F].")
        }
        return time
    }

    /// `KEY=VALUE` words; a later one beats an earlier one of the same key.
    func pairs(_ option: String) throws -> [String: String] {
        var pairs: [String: String] = [:]
        for word in layer.values[option] ?? [] {
            let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, !halves[0].isEmpty else {
                throw complaint(option, "'\(word)' is not KEY=VALUE.")
            }
            pairs[String(halves[0])] = String(halves[1])
        }
        return pairs
    }
}

extension SettingReader {
    /// What has a meaning only where pictures are encoded.
    private static let pictureOptions = [
        "filter", "filter-margin", "deinterlace", "tonemap", "apply-rotation", "encoder-option",
    ]

    /// Options that make no sense together.
    func checkConflicts() throws {
        let rates = ["quality", "bitrate", "size"].filter(isOn)
        if rates.count > 1 {
            throw complaint(rates[1], "cannot be had together with --\(rates[0]); choose one.")
        }
        if text("video-codec") == "copy" || text("encoder") == "copy" {
            for option in rates + Self.pictureOptions where isOn(option) {
                throw complaint(option, "has no effect on copied samples; drop it or choose a codec to encode with.")
            }
        }
        let audio = text("audio") ?? "copy"
        if isOn("audio-bitrate"), !["aac", "opus"].contains(audio) {
            throw complaint("audio-bitrate", "has no effect with --audio \(audio); choose aac or opus.")
        }
        for option in ["audio-map", "audio-language"] where isOn(option) && audio == "none" {
            throw complaint(option, "has no effect with --audio none.")
        }
        try checkEncoderWritesCodec()
    }

    private func checkEncoderWritesCodec() throws {
        guard let encoder = text("encoder"), let codec = text("video-codec") else { return }
        if codec == "copy", encoder != "copy" {
            throw complaint("encoder", "has no effect with --video-codec copy, which uses none.")
        }
        if let written = EncoderName.codec(encoder), written.rawValue != codec {
            throw complaint("encoder", "'\(encoder)' writes \(written.rawValue), not \(codec).")
        }
    }

    /// - Parameter destination: its extension decides the codec where none is stated.
    func exportSettings(destination: String) throws -> ExportSettings {
        var settings = ExportSettings()
        settings.encoder = text("encoder") ?? settings.encoder
        settings.videoCodec = codec(destination: destination)
        settings.rate = try rateControl()
        settings.encoderOptions = try pairs("encoder-option")
        settings.audioCodec = text("audio").flatMap(ExportSettings.AudioCodec.init) ?? settings.audioCodec
        settings.audioBitrate = try rate("audio-bitrate")
        settings.audioMap = try audioMap()
        settings.audioLanguages = try audioLanguages()
        settings.subtitles = text("subtitles").flatMap(ExportSettings.Subtitles.init) ?? settings.subtitles
        settings.filter = text("filter")
        settings.filterMargin = try count("filter-margin", in: 0...1024)
        settings.deinterlace = text("deinterlace")
        settings.toneMapping = text("tonemap").flatMap(ExportSettings.ToneMapping.init)
        settings.appliesRotation = isOn("apply-rotation")
        settings.isStrict = isOn("strict")
        settings.maxDamage = try maxDamage()
        settings.allowedLosses = try allowedLosses()
        settings.start = try time("start")
        settings.end = try time("end")
        settings.segmentDuration = try segmentDuration()
        settings.longGroups = text("split-long-gops").flatMap(LongGroupSplitting.init) ?? settings.longGroups
        settings.threads = try count("threads", in: 1...256)
        settings.stallSeconds = try number("stall-limit", in: 1...86_400) ?? settings.stallSeconds
        if let start = settings.start, let end = settings.end, end <= start {
            throw complaint("end", "is not after --start.")
        }
        if let end = settings.end, end == .zero { throw complaint("end", "leaves nothing to export.") }
        for option in ["filter", "deinterlace"] where text(option) == "" { throw complaint(option, "is empty.") }
        return settings
    }

    private func audioMap() throws -> [Int]? {
        guard let text = text("audio-map"), text != "all" else { return nil }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Quantity.count(String($0), in: 0...9999)
        }
        let known = numbers.compactMap(\.self)
        guard known.count == numbers.count, Set(known).count == known.count else {
            throw complaint("audio-map", "'\(text)' is neither all nor a list of different numbers, such as 0,2.")
        }
        return known
    }

    private func audioLanguages() throws -> [String]? {
        guard let text = text("audio-language") else { return nil }
        let words = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard words.allSatisfy({ $0.count >= 2 && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" } }) else {
            throw complaint("audio-language", "'\(text)' is no list of languages, such as eng,deu.")
        }
        return words
    }

    private func maxDamage() throws -> DamageLimit? {
        guard let text = text("max-damage") else { return nil }
        guard let limit = DamageLimit(text) else {
            throw complaint(
                "max-damage", "'\(text)' is no amount of damage; write frames (250), a share (0.5%) or a duration (2s)."
            )
        }
        return limit
    }

    private func allowedLosses() throws -> Set<ExportSettings.AllowedLoss> {
        let words = (layer.values["allow-loss"] ?? []).flatMap { $0.split(separator: ",").map(String.init) }
        return Set(
            try words.map { word in
                guard let loss = ExportSettings.AllowedLoss(rawValue: word) else {
                    let known = ExportSettings.AllowedLoss.allCases.map(\.rawValue)
                    let suggestion = Suggestion.sentence(for: word, among: known)
                    throw complaint(
                        "allow-loss", "'\(word)' is not one of \(known.joined(separator: ", ")).\(suggestion)")
                }
                return loss
            })
    }

    func segmentDuration() throws -> MediaTime? {
        guard let duration = try time("segment-duration") else { return nil }
        guard duration >= MediaTime(value: 2, timescale: 1) else {
            throw complaint("segment-duration", "is less than 2 seconds.")
        }
        return duration
    }

    private func codec(destination: String) -> ExportSettings.VideoCodec {
        if let stated = text("video-codec").flatMap(ExportSettings.VideoCodec.init) { return stated }
        if let implied = text("encoder").flatMap(EncoderName.codec) { return implied }
        // H.264 is not among the codecs of a WebM file.
        return destination.lowercased().hasSuffix(".webm") ? .vp9 : .h264
    }

    private func rateControl() throws -> ExportSettings.RateControl? {
        if let quality = try number("quality", in: -100...1000) { return .quality(quality) }
        if let bitrate = try rate("bitrate") { return .bitrate(bitrate) }
        return try size("size").map { .size($0) }
    }
}
