package import MediaTime

/// The 33 bits in which MPEG program and transport streams tell time (ISO/IEC 13818-1 §2.4.3.7): they wrap every 26.5 hours,
/// presentation and decode times each at their own sample.
package struct TimestampWrap: Sendable {
    private static let modulus: Int128 = 1 << 33

    private let wraps: Bool

    /// - Parameter isEnabled: false for containers whose times do not wrap.
    package init(timeBase: TimeBase, isEnabled: Bool) {
        wraps = isEnabled && timeBase == .mpeg
    }

    /// The time that reads `raw` and lies nearest to `place`.
    package func unwrapped(_ raw: Int64, near place: Int128) -> Int128 {
        guard wraps else { return Int128(raw) }
        let half = Self.modulus / 2
        var difference = (Int128(raw) - place) % Self.modulus
        if difference >= half { difference -= Self.modulus }
        if difference < -half { difference += Self.modulus }
        return place + difference
    }

    /// Whether the two read the same.
    package func isSame(_ left: Int64, _ right: Int64) -> Bool {
        wraps ? (Int128(left) - Int128(right)) % Self.modulus == 0 : left == right
    }
}

/// Undoes the wrap of one track whose times are otherwise one line, which is true of what Weft itself writes.
package struct WrapUnroller: Sendable {
    private let wrap: TimestampWrap
    private var last: Int128?

    package init(timeBase: TimeBase, isEnabled: Bool) {
        wrap = TimestampWrap(timeBase: timeBase, isEnabled: isEnabled)
    }

    /// - Returns: the times without the wrap. Samples come in decode order.
    package mutating func times(dts: Int64?, pts: Int64?) -> (dts: Int64?, pts: Int64?) {
        guard let raw = dts ?? pts else { return (nil, nil) }
        let time = wrap.unwrapped(raw, near: last ?? Int128(raw))
        last = time
        let unwrapped = dts == nil ? nil : Int64(clamping: time)
        return (unwrapped, pts.map { Int64(clamping: wrap.unwrapped($0, near: time)) })
    }
}
