internal import Media

/// What a container promises of decode times: strictly rising, never after the presentation time, and a first sample that
/// decoding can start at (ISO/IEC 14496-12 §8.6.1).
struct DecodeOrderCheck {
    /// Matroska stores presentation times alone; what libavformat tells as decode times there is its own guess.
    let isStored: Bool
    private var last: Int64?
    private(set) var firstIsSync: Bool?
    private(set) var backward = 0
    private(set) var afterPresentation = 0
    private(set) var absent = 0
    private(set) var firstBackward: Int64?

    init(isStored: Bool) { self.isStored = isStored }

    mutating func add(_ sample: Sample) {
        if firstIsSync == nil { firstIsSync = sample.isSync }
        guard isStored else { return }
        guard let dts = sample.dts else {
            absent += 1
            return
        }
        if let last, dts <= last {
            backward += 1
            if firstBackward == nil { firstBackward = dts }
        }
        last = max(last ?? dts, dts)
        if let pts = sample.pts, pts < dts { afterPresentation += 1 }
    }

    /// One sentence for each kind of trouble.
    var complaints: [String] { complaints(startsAnywhere: false) }

    /// - Parameter startsAnywhere: the first sample need be no keyframe: a copy of a track that begins without one.
    func complaints(startsAnywhere: Bool) -> [String] {
        var complaints: [String] = []
        if backward > 0 {
            complaints.append("Decode times do not rise at \(backward) samples, first at tick \(firstBackward ?? 0).")
        }
        if afterPresentation > 0 {
            complaints.append("\(afterPresentation) samples are decoded after they are shown.")
        }
        if absent > 0 { complaints.append("\(absent) samples have no decode time.") }
        if firstIsSync == false, !startsAnywhere { complaints.append("The first sample is no keyframe.") }
        return complaints
    }
}
