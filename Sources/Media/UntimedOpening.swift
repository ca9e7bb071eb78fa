/// The first samples of a track whose decode times its container does not store (Matroska, AVI with reordered pictures): libavformat
/// finds the times once it has seen how far pictures are reordered, and leaves the first ones without. Here they get what they
/// must have had: times that step back from the first known one.
struct UntimedOpening: Sendable {
    private var waiting: [Sample] = []
    private var isOver = false
    /// Pictures are reordered by at most 16 places (Rec. ITU-T H.264 §A.3.1, MaxDpbFrames).
    private static let longest = 17

    /// - Returns: the samples whose decode times are settled, in order.
    mutating func add(_ sample: Sample) -> [Sample] {
        if isOver { return [sample] }
        guard sample.format.mediaType == .video, sample.dts == nil, sample.pts != nil else {
            isOver = true
            defer { waiting = [] }
            guard let dts = sample.dts, !waiting.isEmpty else { return waiting + [sample] }
            return Self.timed(waiting, before: dts) + [sample]
        }
        waiting.append(sample)
        return waiting.count > Self.longest ? finish() : []
    }

    /// No sample tells: decode order is as early as the order of presentation lets it be.
    mutating func finish() -> [Sample] {
        isOver = true
        defer { waiting = [] }
        let times = waiting.compactMap(\.pts)
        guard zip(times, times.dropFirst()).contains(where: { $0 >= $1 }), let first = times.min() else {
            return waiting
        }
        return Self.timed(waiting, before: first &+ 1)
    }

    private static func timed(_ samples: [Sample], before end: Int64) -> [Sample] {
        var next = end
        var result: [Sample] = []
        for sample in samples.reversed() {
            let step = max(1, min(sample.duration, 1 << 32))
            let (back, overflow) = next.subtractingReportingOverflow(step)
            next = min(overflow ? next : back, sample.pts ?? back)
            result.append(
                sample.retimed(pts: sample.pts, dts: next, duration: sample.duration, timeBase: sample.timeBase))
        }
        return result.reversed()
    }
}
