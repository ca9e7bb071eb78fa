internal import CFFmpeg

/// Primaries, white point and luminance of the display that a picture was graded on (SMPTE ST 2086).
public struct MasteringDisplay: Sendable, Hashable, Codable {
    /// A colour.
    public struct Point: Sendable, Hashable, Codable {
        /// CIE 1931 coordinates in units of 0.00002.
        public var x: Int
        public var y: Int

        public init(x: Int, y: Int) {
            self.x = x
            self.y = y
        }
    }

    public var red: Point
    public var green: Point
    public var blue: Point
    /// The white point.
    public var white: Point
    /// In units of 0.0001 cd/m².
    public var maximumLuminance: Int
    public var minimumLuminance: Int

    public init(red: Point, green: Point, blue: Point, white: Point, maximumLuminance: Int, minimumLuminance: Int) {
        self.red = red
        self.green = green
        self.blue = blue
        self.white = white
        self.maximumLuminance = maximumLuminance
        self.minimumLuminance = minimumLuminance
    }
}

/// Brightest pixel and brightest frame average of a programme (CTA-861.3), in cd/m².
public struct ContentLight: Sendable, Hashable, Codable {
    /// 0 for unknown.
    public var maximum: Int
    public var maximumFrameAverage: Int

    public init(maximum: Int, maximumFrameAverage: Int) {
        self.maximum = maximum
        self.maximumFrameAverage = maximumFrameAverage
    }
}

// MARK: libav's form

extension MasteringDisplay {
    private static let chromaticityUnit: Int32 = 50_000
    private static let luminanceUnit: Int32 = 10_000

    /// - Returns: `nil` for an attachment of another kind or one that lacks primaries or luminance.
    public init?(_ attachment: Attachment) {
        guard attachment.kind == .masteringDisplay,
            attachment.bytes.count >= MemoryLayout<AVMasteringDisplayMetadata>.size
        else { return nil }
        let data = attachment.bytes.withUnsafeBytes { $0.loadUnaligned(as: AVMasteringDisplayMetadata.self) }
        guard data.has_primaries != 0, data.has_luminance != 0 else { return nil }
        func point(_ pair: (AVRational, AVRational)) -> Point {
            Point(x: scaled(pair.0, Self.chromaticityUnit), y: scaled(pair.1, Self.chromaticityUnit))
        }
        self.init(
            red: point(data.display_primaries.0), green: point(data.display_primaries.1),
            blue: point(data.display_primaries.2), white: point(data.white_point),
            maximumLuminance: scaled(data.max_luminance, Self.luminanceUnit),
            minimumLuminance: scaled(data.min_luminance, Self.luminanceUnit))
    }

    public var attachment: Attachment {
        func pair(_ point: Point) -> (AVRational, AVRational) {
            (rational(point.x, Self.chromaticityUnit), rational(point.y, Self.chromaticityUnit))
        }
        var data = AVMasteringDisplayMetadata()
        data.display_primaries = (pair(red), pair(green), pair(blue))
        data.white_point = pair(white)
        data.max_luminance = rational(maximumLuminance, Self.luminanceUnit)
        data.min_luminance = rational(minimumLuminance, Self.luminanceUnit)
        data.has_primaries = 1
        data.has_luminance = 1
        return Attachment(kind: .masteringDisplay, bytes: withUnsafeBytes(of: data) { Array($0) })
    }
}

extension ContentLight {
    /// - Returns: `nil` for an attachment of another kind.
    public init?(_ attachment: Attachment) {
        guard attachment.kind == .contentLight, attachment.bytes.count >= MemoryLayout<AVContentLightMetadata>.size
        else { return nil }
        let data = attachment.bytes.withUnsafeBytes { $0.loadUnaligned(as: AVContentLightMetadata.self) }
        self.init(maximum: Int(data.MaxCLL), maximumFrameAverage: Int(data.MaxFALL))
    }

    public var attachment: Attachment {
        let data = AVContentLightMetadata(
            MaxCLL: UInt32(clamping: maximum), MaxFALL: UInt32(clamping: maximumFrameAverage))
        return Attachment(kind: .contentLight, bytes: withUnsafeBytes(of: data) { Array($0) })
    }
}

/// To the nearest unit; 0 for what is no number or out of any display's range.
private func scaled(_ value: AVRational, _ unit: Int32) -> Int {
    guard value.den > 0, value.num >= 0 else { return 0 }
    return Int(clamping: av_rescale(Int64(value.num), Int64(unit), Int64(value.den)))
}

private func rational(_ value: Int, _ unit: Int32) -> AVRational {
    AVRational(num: Int32(clamping: value), den: unit)
}
