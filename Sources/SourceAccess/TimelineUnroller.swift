package import MediaTime

/// Turns the raw times of one track into one monotonic time line.
///
/// MPEG transport and program streams wrap at 33 bits (ISO/IEC 13818-1 §2.4.3.7) and may restart or jump where pieces were
/// joined. A jump is seen in decode times, since presentation times reorder anyway. The decision looks only at neighbouring
/// samples, so a reader that starts at any keyframe of known offset takes the same ones as a scan from the beginning.
package struct TimelineUnroller: Sendable {
    /// A step back beyond this, or ahead beyond `gap`, is a new time line and not an irregular frame.
    private let backstep: Int64
    private let gap: Int64
    /// Added to raw times.
    package private(set) var offset: Int64
    private var last: (dts: Int64, duration: Int64)?
    private let isEnabled: Bool

    /// - Parameter isEnabled: false for containers whose times are one line by definition (MP4, Matroska…).
    package init(timeBase: TimeBase, isEnabled: Bool, offset: Int64 = 0) {
        let second = max(1, Int64(timeBase.denominator) / Int64(timeBase.numerator))
        backstep = second / 2
        gap = second * 10
        self.offset = offset
        self.isEnabled = isEnabled
    }

    /// - Returns: what to add to the raw times of the sample, updating the state. Samples come in decode order.
    package mutating func offset(forRawDTS dts: Int64?, duration: Int64) -> Int64 {
        guard isEnabled, let dts else { return offset }
        let (unrolled, overflow) = dts.addingReportingOverflow(offset)
        guard !overflow else { return offset }
        if let last {
            let (step, overflow) = unrolled.subtractingReportingOverflow(last.dts)
            if overflow || step < -backstep || step > gap {
                offset = last.dts &+ max(1, last.duration) &- dts
                self.last = (dts &+ offset, duration > 0 ? duration : last.duration)
                return offset
            }
            // A small step back is an irregular sample; the line's head stays where it was.
            self.last = (max(last.dts, unrolled), duration > 0 ? duration : last.duration)
        } else {
            last = (unrolled, duration)
        }
        return offset
    }
}
