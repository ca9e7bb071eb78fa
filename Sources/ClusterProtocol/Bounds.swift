internal import MediaTime
internal import SegmentPlan

/// The checks that every field from outside goes through.
enum Bounds {
    /// A name is shown on terminals and used in log lines: short, not empty, and free of control characters.
    static func name(_ value: String, _ field: StaticString) throws(ProtocolError) {
        guard !value.isEmpty else { throw .malformed("\(field) is empty.") }
        try text(value, field, atMost: ProtocolLimits.nameBytes)
    }

    /// Text may be empty; a line feed and a tab are the only control characters in it.
    static func text(
        _ value: String, _ field: StaticString, atMost limit: Int = ProtocolLimits.textBytes
    ) throws(ProtocolError) {
        guard value.utf8.count <= limit else {
            throw .limit("\(field) has \(value.utf8.count) bytes; at most \(limit) are allowed.")
        }
        guard value.unicodeScalars.allSatisfy(isPrintable) else {
            throw .malformed("\(field) holds control characters.")
        }
    }

    /// Escape sequences of a foreign machine must not reach a terminal (C0, DEL and C1 of ECMA-48).
    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: true
        case 0..<0x20, 0x7F..<0xA0: false
        default: true
        }
    }

    static func count(_ value: Int, _ field: StaticString, atMost limit: Int) throws(ProtocolError) {
        guard value <= limit else { throw .limit("\(field) has \(value) entries; at most \(limit) are allowed.") }
    }

    static func texts(_ values: [String], _ field: StaticString, atMost limit: Int) throws(ProtocolError) {
        try count(values.count, field, atMost: limit)
        for value in values { try text(value, field) }
    }

    static func number<Value: FixedWidthInteger>(
        _ value: Value, _ field: StaticString, in range: ClosedRange<Value>
    ) throws(ProtocolError) {
        guard range.contains(value) else {
            throw .limit("\(field) is \(value); \(range.lowerBound) to \(range.upperBound) is allowed.")
        }
    }

    static func seconds(_ value: Double, _ field: StaticString) throws(ProtocolError) {
        guard value >= 0, value <= ProtocolLimits.seconds else {
            throw .limit("\(field) is \(value) seconds; 0 to \(ProtocolLimits.seconds) is allowed.")
        }
    }

    /// Lower-case or upper-case hexadecimal digits, exactly `digits` of them.
    static func hex(_ value: String, _ field: StaticString, digits: Int) throws(ProtocolError) {
        guard value.utf8.count == digits, value.utf8.allSatisfy(isHexDigit) else {
            throw .malformed("\(field) is not \(digits) hexadecimal digits.")
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
    }
}

// MARK: Values that several messages carry

extension Failure {
    func check() throws(ProtocolError) {
        try Bounds.text(message, "failure.message")
        try Bounds.text(advice, "failure.advice")
        try Bounds.texts(log, "failure.log", atMost: ProtocolLimits.logLines)
    }
}

extension SourceReference {
    func check() throws(ProtocolError) {
        guard !location.isEmpty else { throw .malformed("source.location is empty.") }
        try Bounds.text(location, "source.location", atMost: ProtocolLimits.locationBytes)
        try Bounds.number(fingerprint.size, "source.fingerprint.size", in: 0...Int64.max)
        try Bounds.text(fingerprint.hash, "source.fingerprint.hash", atMost: ProtocolLimits.nameBytes)
        try Bounds.number(videoTrack, "source.video_track", in: 0...65_535)
    }
}

extension EncodeRecipe {
    func check() throws(ProtocolError) {
        try Bounds.name(encoder, "recipe.encoder")
        try Bounds.options(options, "recipe.options")
        try Bounds.number(bitrate, "recipe.bitrate", in: 0...1_000_000_000_000)
        try Bounds.number(threads, "recipe.threads", in: 0...ProtocolLimits.cores)
        try Bounds.text(filter, "recipe.filter", atMost: ProtocolLimits.filterBytes)
        try Bounds.number(timeBase.numerator, "recipe.time_base.numerator", in: 1...Int32.max)
        try Bounds.number(timeBase.denominator, "recipe.time_base.denominator", in: 1...Int32.max)
        try Bounds.number(frameRateNumerator, "recipe.frame_rate_numerator", in: 0...Int32.max)
        try Bounds.number(frameRateDenominator, "recipe.frame_rate_denominator", in: 1...Int32.max)
        try Bounds.number(width, "recipe.width", in: 0...ProtocolLimits.pixels)
        try Bounds.number(height, "recipe.height", in: 0...ProtocolLimits.pixels)
        try Bounds.text(pixelFormat, "recipe.pixel_format", atMost: ProtocolLimits.nameBytes)
        try Bounds.number(filterMargin, "recipe.filter_margin", in: 0...ProtocolLimits.filterMargin)
        try aspect?.check("recipe.aspect")
        try colour.check("recipe.colour")
        if let source {
            try Bounds.number(source.width, "recipe.source.width", in: 1...ProtocolLimits.pixels)
            try Bounds.number(source.height, "recipe.source.height", in: 1...ProtocolLimits.pixels)
            try Bounds.text(source.pixelFormat, "recipe.source.pixel_format", atMost: ProtocolLimits.nameBytes)
            try source.aspect?.check("recipe.source.aspect")
            try source.colour.check("recipe.source.colour")
        }
        if let values = masteringDisplay?.values {
            guard values.count == 10 else { throw .malformed("A mastering display has ten numbers.") }
            for value in values {
                try Bounds.number(value, "recipe.mastering_display", in: 0...Int(Int32.max))
            }
        }
        for value in [contentLight?.maximum, contentLight?.maximumFrameAverage] {
            try Bounds.number(value ?? 0, "recipe.content_light", in: 0...Int(Int32.max))
        }
    }
}

extension EncodeRecipe.Aspect {
    fileprivate func check(_ what: StaticString) throws(ProtocolError) {
        try Bounds.number(numerator, what, in: 0...Int32.max)
        try Bounds.number(denominator, what, in: 1...Int32.max)
    }
}

extension EncodeRecipe.Colour {
    fileprivate func check(_ what: StaticString) throws(ProtocolError) {
        for text in [primaries, transfer, matrix, range, chromaLocation] {
            try Bounds.text(text ?? "", what, atMost: ProtocolLimits.nameBytes)
        }
    }
}

extension ExportSettings {
    func check() throws(ProtocolError) {
        try Bounds.name(encoder, "settings.encoder")
        try Bounds.options(encoderOptions, "settings.encoder_options")
        try Bounds.text(filter ?? "", "settings.filter", atMost: ProtocolLimits.filterBytes)
        try Bounds.number(audioBitrate ?? 0, "settings.audio_bitrate", in: 0...1_000_000_000_000)
        try Bounds.number(threads ?? 0, "settings.threads", in: 0...ProtocolLimits.cores)
        try Bounds.text(deinterlace ?? "", "settings.deinterlace", atMost: ProtocolLimits.filterBytes)
        try Bounds.number(filterMargin ?? 0, "settings.filter_margin", in: 0...ProtocolLimits.filterMargin)
        try Bounds.seconds(stallSeconds, "settings.stall_seconds")
        switch rate {
        case .quality(let value):
            guard value.isFinite, abs(value) <= 10_000 else { throw .limit("settings.rate.quality is \(value).") }
        case .bitrate(let value): try Bounds.number(value, "settings.rate.bitrate", in: 1...1_000_000_000_000)
        case .size(let value): try Bounds.number(value, "settings.rate.size", in: 1...Int64.max)
        case nil: break
        }
    }
}

extension Segment {
    func check() throws(ProtocolError) {
        try Bounds.number(index, "segment.index", in: 0...ProtocolLimits.segments)
        guard start < end else { throw .malformed("The segment ends before it starts.") }
        for keyframe in [entry, keyframe] + (next.map { [$0] } ?? []) { try keyframe.check() }
        try Bounds.count(jumps.count, "segment.jumps", atMost: ProtocolLimits.jumps)
        for jump in jumps {
            try Bounds.number(jump.ordinal, "jump.ordinal", in: 0...Int.max)
            try Bounds.number(jump.position, "jump.position", in: -1...Int64.max)
        }
    }
}

extension Keyframe {
    func check() throws(ProtocolError) {
        try Bounds.number(position, "keyframe.position", in: -1...Int64.max)
        try Bounds.number(ordinal, "keyframe.ordinal", in: -1...Int.max)
        try Bounds.number(leading, "keyframe.leading", in: 0...ProtocolLimits.samples)
        if case .recovery(let frames) = kind {
            try Bounds.number(frames, "keyframe.kind.recovery.frames", in: 0...ProtocolLimits.samples)
        }
    }
}

extension Bounds {
    static func options(_ options: [String: String], _ field: StaticString) throws(ProtocolError) {
        try count(options.count, field, atMost: ProtocolLimits.options)
        for (key, value) in options {
            try name(key, field)
            try text(value, field)
        }
    }
}
