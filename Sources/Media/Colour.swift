internal import CFFmpeg

/// How numbers become light: the code points of ITU-T H.273, by libavutil's names, `nil` where unspecified.
public struct ColourDescription: Sendable, Hashable, Codable {
    /// `bt709`, `bt2020`, `smpte432`…
    public var primaries: String?
    /// `bt709`, `smpte2084` (PQ), `arib-std-b67` (HLG)…
    public var transfer: String?
    /// `bt709`, `bt2020nc`, `gbr`…
    public var matrix: String?
    /// `tv` (limited) or `pc` (full).
    public var range: String?
    /// Where the chroma samples lie: `left`, `topleft`, `center`…
    public var chromaLocation: String?

    public init(
        primaries: String? = nil, transfer: String? = nil, matrix: String? = nil, range: String? = nil,
        chromaLocation: String? = nil
    ) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.range = range
        self.chromaLocation = chromaLocation
    }

    public static let unspecified = ColourDescription()

    /// PQ or HLG (ITU-R BT.2100).
    public var isHighDynamicRange: Bool { transfer == "smpte2084" || transfer == "arib-std-b67" }
}

/// The same five code points as libav's numbers.
struct ColourCodes: Equatable {
    var primaries = AVCOL_PRI_UNSPECIFIED
    var transfer = AVCOL_TRC_UNSPECIFIED
    var matrix = AVCOL_SPC_UNSPECIFIED
    var range = AVCOL_RANGE_UNSPECIFIED
    var chromaLocation = AVCHROMA_LOC_UNSPECIFIED
}

extension ColourDescription {
    init(_ codes: ColourCodes) {
        func name(_ value: UInt32, _ unspecified: UInt32, _ text: UnsafePointer<CChar>?) -> String? {
            guard value != unspecified, let text else { return nil }
            return String(cString: text)
        }
        self.init(
            primaries: name(
                codes.primaries.rawValue, AVCOL_PRI_UNSPECIFIED.rawValue, av_color_primaries_name(codes.primaries)),
            transfer: name(
                codes.transfer.rawValue, AVCOL_TRC_UNSPECIFIED.rawValue, av_color_transfer_name(codes.transfer)),
            matrix: name(codes.matrix.rawValue, AVCOL_SPC_UNSPECIFIED.rawValue, av_color_space_name(codes.matrix)),
            range: name(codes.range.rawValue, AVCOL_RANGE_UNSPECIFIED.rawValue, av_color_range_name(codes.range)),
            chromaLocation: name(
                codes.chromaLocation.rawValue, AVCHROMA_LOC_UNSPECIFIED.rawValue,
                av_chroma_location_name(codes.chromaLocation)))
    }

    /// - Throws: `.format`/`.invalidSettings` naming the word that libavutil does not know.
    func codes() throws(MediaError) -> ColourCodes {
        var codes = ColourCodes()
        if let primaries {
            codes.primaries.rawValue = try Self.code(of: primaries, "primaries", av_color_primaries_from_name)
        }
        if let transfer {
            codes.transfer.rawValue = try Self.code(of: transfer, "transfer", av_color_transfer_from_name)
        }
        if let matrix { codes.matrix.rawValue = try Self.code(of: matrix, "matrix", av_color_space_from_name) }
        if let range { codes.range.rawValue = try Self.code(of: range, "range", av_color_range_from_name) }
        if let chromaLocation {
            codes.chromaLocation.rawValue = try Self.code(
                of: chromaLocation, "chroma location", av_chroma_location_from_name)
        }
        return codes
    }

    private static func code(
        of name: String, _ what: String, _ lookUp: (UnsafePointer<CChar>?) -> Int32
    ) throws(MediaError) -> UInt32 {
        let code = lookUp(name)
        guard code >= 0 else {
            throw MediaError(.format, .invalidSettings, "“\(name)” is no colour \(what) that libavutil knows.")
        }
        return UInt32(code)
    }
}
