extension EncodeRecipe {
    /// Width of a pixel over its height.
    package struct Aspect: Hashable, Sendable, Codable {
        package var numerator: Int32
        package var denominator: Int32

        package init(numerator: Int32, denominator: Int32) {
            self.numerator = numerator
            self.denominator = denominator
        }
    }

    /// Code points of ITU-T H.273 by libavutil's names; `nil` where unspecified.
    package struct Colour: Hashable, Sendable, Codable {
        package var primaries: String?
        package var transfer: String?
        package var matrix: String?
        package var range: String?
        package var chromaLocation: String?

        private enum CodingKeys: String, CodingKey {
            case primaries, transfer, matrix, range
            case chromaLocation = "chroma_location"
        }

        package init(
            primaries: String? = nil, transfer: String? = nil, matrix: String? = nil, range: String? = nil,
            chromaLocation: String? = nil
        ) {
            self.primaries = primaries
            self.transfer = transfer
            self.matrix = matrix
            self.range = range
            self.chromaLocation = chromaLocation
        }
    }

    /// What a picture is before the filter chain.
    package struct Picture: Hashable, Sendable, Codable {
        package var width: Int
        package var height: Int
        package var pixelFormat: String
        package var aspect: Aspect?
        package var colour: Colour

        private enum CodingKeys: String, CodingKey {
            case width, height
            case pixelFormat = "pixel_format"
            case aspect, colour
        }

        package init(width: Int, height: Int, pixelFormat: String, aspect: Aspect?, colour: Colour) {
            self.width = width
            self.height = height
            self.pixelFormat = pixelFormat
            self.aspect = aspect
            self.colour = colour
        }
    }

    package enum Scan: String, Hashable, Sendable, Codable {
        case progressive
        case topFieldFirst = "top-field-first"
        case bottomFieldFirst = "bottom-field-first"
    }

    /// SMPTE ST 2086: x and y of red, green, blue and white in units of 0.00002, then the highest and the lowest luminance
    /// in units of 0.0001 cd/m². Always ten numbers.
    package struct MasteringDisplay: Hashable, Sendable, Codable {
        package var values: [Int]

        package init(values: [Int]) { self.values = values }
    }

    /// CTA-861.3, in cd/m².
    package struct ContentLight: Hashable, Sendable, Codable {
        package var maximum: Int
        package var maximumFrameAverage: Int

        private enum CodingKeys: String, CodingKey {
            case maximum
            case maximumFrameAverage = "maximum_frame_average"
        }

        package init(maximum: Int, maximumFrameAverage: Int) {
            self.maximum = maximum
            self.maximumFrameAverage = maximumFrameAverage
        }
    }
}
