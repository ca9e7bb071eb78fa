internal import MediaTime

// What a preset file or a client does not say keeps its default; a field that is unknown is ignored.
extension ExportSettings {
    private enum CodingKeys: String, CodingKey {
        case videoCodec = "video_codec"
        case encoder, rate
        case encoderOptions = "encoder_options"
        case audioCodec = "audio_codec"
        case audioBitrate = "audio_bitrate"
        case audioMap = "audio_map"
        case audioLanguages = "audio_language"
        case subtitles
        case filter, start, end
        case segmentDuration = "segment_duration"
        case longGroups = "split_long_gops"
        case filterMargin = "filter_margin"
        case deinterlace
        case toneMapping = "tonemap"
        case appliesRotation = "apply_rotation"
        case isStrict = "strict"
        case allowedLosses = "allow_loss"
        case maxDamage = "max_damage"
        case threads
        case stallSeconds = "stall_seconds"
    }

    package init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
            try container.decodeIfPresent(Value.self, forKey: key)
        }
        videoCodec = try value(.videoCodec) ?? videoCodec
        encoder = try value(.encoder) ?? encoder
        rate = try value(.rate)
        encoderOptions = try value(.encoderOptions) ?? encoderOptions
        audioCodec = try value(.audioCodec) ?? audioCodec
        audioBitrate = try value(.audioBitrate)
        audioMap = try value(.audioMap)
        audioLanguages = try value(.audioLanguages)
        subtitles = try value(.subtitles) ?? subtitles
        filter = try value(.filter)
        filterMargin = try value(.filterMargin)
        deinterlace = try value(.deinterlace)
        toneMapping = try value(.toneMapping)
        appliesRotation = try value(.appliesRotation) ?? appliesRotation
        isStrict = try value(.isStrict) ?? isStrict
        allowedLosses = try value(.allowedLosses) ?? allowedLosses
        maxDamage = try value(.maxDamage)
        start = try value(.start)
        end = try value(.end)
        segmentDuration = try value(.segmentDuration)
        longGroups = try value(.longGroups) ?? longGroups
        threads = try value(.threads)
        stallSeconds = try value(.stallSeconds) ?? stallSeconds
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(videoCodec, forKey: .videoCodec)
        try container.encode(self.encoder, forKey: .encoder)
        try container.encodeIfPresent(rate, forKey: .rate)
        try container.encode(encoderOptions, forKey: .encoderOptions)
        try container.encode(audioCodec, forKey: .audioCodec)
        try container.encodeIfPresent(audioBitrate, forKey: .audioBitrate)
        try container.encodeIfPresent(audioMap, forKey: .audioMap)
        try container.encodeIfPresent(audioLanguages, forKey: .audioLanguages)
        try container.encode(subtitles, forKey: .subtitles)
        try container.encodeIfPresent(filter, forKey: .filter)
        try container.encodeIfPresent(filterMargin, forKey: .filterMargin)
        try container.encodeIfPresent(deinterlace, forKey: .deinterlace)
        try container.encodeIfPresent(toneMapping, forKey: .toneMapping)
        try container.encode(appliesRotation, forKey: .appliesRotation)
        try container.encode(isStrict, forKey: .isStrict)
        try container.encode(allowedLosses.sorted { $0.rawValue < $1.rawValue }, forKey: .allowedLosses)
        try container.encodeIfPresent(maxDamage, forKey: .maxDamage)
        try container.encodeIfPresent(start, forKey: .start)
        try container.encodeIfPresent(end, forKey: .end)
        try container.encodeIfPresent(segmentDuration, forKey: .segmentDuration)
        try container.encode(longGroups, forKey: .longGroups)
        try container.encodeIfPresent(threads, forKey: .threads)
        try container.encode(stallSeconds, forKey: .stallSeconds)
    }
}

/// `{"quality": 22}`, `{"bitrate": 4000000}` or `{"size": 700000000}`.
extension ExportSettings.RateControl {
    private enum CodingKeys: String, CodingKey { case quality, bitrate, size }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let known = container.allKeys
        guard known.count == 1, let key = known.first else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "One of quality, bitrate and size is needed."))
        }
        switch key {
        case .quality: self = .quality(try container.decode(Double.self, forKey: .quality))
        case .bitrate: self = .bitrate(try container.decode(Int64.self, forKey: .bitrate))
        case .size: self = .size(try container.decode(Int64.self, forKey: .size))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .quality(let value): try container.encode(value, forKey: .quality)
        case .bitrate(let value): try container.encode(value, forKey: .bitrate)
        case .size(let value): try container.encode(value, forKey: .size)
        }
    }
}
