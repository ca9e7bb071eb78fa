internal import CFFmpeg

/// Primaries, white point and luminance of the display that a picture was graded on (SMPTE ST 2086).
public struct MasteringDisplay: Sendable, Hashable, Codable {
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
    public var maximum: Int
    public var maximumFrameAverage: Int

    public init(maximum: Int, maximumFrameAverage: Int) {
        self.maximum = maximum
        self.maximumFrameAverage = maximumFrameAverage
    }
}
