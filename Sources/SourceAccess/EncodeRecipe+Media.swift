package import ClusterProtocol
package import Media

// The recipe travels in plain values; these are the library's words for them.

extension Rational {
    init?(_ aspect: EncodeRecipe.Aspect) { self.init(aspect.numerator, aspect.denominator) }
}

extension EncodeRecipe.Aspect {
    package init(_ ratio: Rational) { self.init(numerator: ratio.numerator, denominator: ratio.denominator) }
}

extension ColourDescription {
    init(_ colour: EncodeRecipe.Colour) {
        self.init(
            primaries: colour.primaries, transfer: colour.transfer, matrix: colour.matrix, range: colour.range,
            chromaLocation: colour.chromaLocation)
    }
}

extension EncodeRecipe.Colour {
    package init(_ colour: ColourDescription) {
        self.init(
            primaries: colour.primaries, transfer: colour.transfer, matrix: colour.matrix, range: colour.range,
            chromaLocation: colour.chromaLocation)
    }
}

extension EncodeRecipe.Picture {
    package init(_ format: FrameFormat) {
        self.init(
            width: format.width, height: format.height, pixelFormat: format.pixelFormat,
            aspect: format.sampleAspectRatio.map { EncodeRecipe.Aspect($0) },
            colour: EncodeRecipe.Colour(format.colour))
    }
}

extension CompressionSettings.Scan {
    init(_ scan: EncodeRecipe.Scan) {
        self =
            switch scan {
            case .progressive: .progressive
            case .topFieldFirst: .topFieldFirst
            case .bottomFieldFirst: .bottomFieldFirst
            }
    }
}

extension EncodeRecipe.Scan {
    package init(_ scan: CompressionSettings.Scan) {
        self =
            switch scan {
            case .progressive: .progressive
            case .topFieldFirst: .topFieldFirst
            case .bottomFieldFirst: .bottomFieldFirst
            }
    }
}

extension MasteringDisplay {
    init?(_ display: EncodeRecipe.MasteringDisplay) {
        let values = display.values
        guard values.count == 10 else { return nil }
        self.init(
            red: Point(x: values[0], y: values[1]), green: Point(x: values[2], y: values[3]),
            blue: Point(x: values[4], y: values[5]), white: Point(x: values[6], y: values[7]),
            maximumLuminance: values[8], minimumLuminance: values[9])
    }
}

extension EncodeRecipe.MasteringDisplay {
    package init(_ display: MasteringDisplay) {
        let points = [display.red, display.green, display.blue, display.white].flatMap { [$0.x, $0.y] }
        self.init(values: points + [display.maximumLuminance, display.minimumLuminance])
    }
}
