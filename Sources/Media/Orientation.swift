/// How a picture is turned before it is shown: the eight ways that keep its edges upright or level.
public enum Orientation: String, Sendable, Hashable, CaseIterable {
    case upright
    /// Clockwise, in degrees.
    case turned90, turned180, turned270
    /// Left and right exchanged.
    case mirrored
    /// Top and bottom exchanged.
    case flipped
    /// Rows become columns.
    case transposed
    /// Rows become columns, from the other corner.
    case antitransposed

    /// - Parameter matrix: nine numbers of a display matrix, row by row (ISO/IEC 14496-12 §8.3.2): a pixel (x, y) is shown at
    ///   (a·x + c·y, b·x + d·y) for the rows (a, b, …) and (c, d, …).
    /// - Returns: `nil` for a matrix that shears, or turns by another angle than a multiple of 90 degrees.
    public init?(matrix: [Int32]) {
        guard matrix.count == 9 else { return nil }
        func sign(_ value: Int32) -> Int { value == 0 ? 0 : value > 0 ? 1 : -1 }
        switch (sign(matrix[0]), sign(matrix[1]), sign(matrix[3]), sign(matrix[4])) {
        case (1, 0, 0, 1): self = .upright
        case (0, 1, -1, 0): self = .turned90
        case (-1, 0, 0, -1): self = .turned180
        case (0, -1, 1, 0): self = .turned270
        case (-1, 0, 0, 1): self = .mirrored
        case (1, 0, 0, -1): self = .flipped
        case (0, 1, 1, 0): self = .transposed
        case (0, -1, -1, 0): self = .antitransposed
        default: return nil
        }
    }

    /// Width and height change places.
    public var exchangesAxes: Bool {
        [.turned90, .turned270, .transposed, .antitransposed].contains(self)
    }

    /// The libavfilter chain that turns the pixels so; empty for none.
    public var filter: String {
        switch self {
        case .upright: ""
        case .turned90: "transpose=dir=clock"
        case .turned180: "hflip,vflip"
        case .turned270: "transpose=dir=cclock"
        case .mirrored: "hflip"
        case .flipped: "vflip"
        case .transposed: "transpose=dir=cclock_flip"
        case .antitransposed: "transpose=dir=clock_flip"
        }
    }
}
