internal import ClusterProtocol
internal import MediaTime

/// Gives the pictures of segment after segment their times in the output, in the unit that its container has.
struct PictureTimes {
    /// Unit of the segments' times.
    let source: TimeBase
    /// Unit of the output's track.
    let unit: TimeBase
    /// Ticks of `source` that become zero.
    private let origin: Int64
    /// Added to every time, in `unit`.
    private let shift: Int64
    private var timeline: DecodeTimeline
    private var last: Int64?
    /// The most by which a picture was moved because the unit cannot tell its time from its neighbour's; zero for none.
    private(set) var largestMove = MediaTime.zero

    /// One segment's, in decode order.
    struct Placed {
        var presentation: [Int64]
        var decode: [Int64]
        var durations: [Int64]
    }

    /// - Parameters:
    ///   - depth: places by which decode order runs ahead.
    ///   - shift: moves everything, because the container holds no time below zero.
    init(source: TimeBase, unit: TimeBase, origin: MediaTime, shift: MediaTime, depth: Int) throws {
        self.source = source
        self.unit = unit
        self.origin = try origin.ticks(in: source)
        self.shift = try shift.ticks(in: unit)
        timeline = DecodeTimeline(depth: depth)
    }

    /// - Parameters:
    ///   - times: ticks of `source` in decode order.
    ///   - end: where the segment ends, in ticks of `source`.
    mutating func place(_ times: [Int64], until end: Int64) throws -> Placed {
        var presentation: [Int64] = []
        presentation.reserveCapacity(times.count)
        for time in times { presentation.append(try output(time)) }
        separate(&presentation, times)
        let decode = try timeline.decodeTimes(for: presentation)
        return Placed(
            presentation: presentation, decode: decode, durations: Self.durations(presentation, last: try output(end)))
    }

    private func output(_ time: Int64) throws -> Int64 { try source.rescale(time &- origin, to: unit) &+ shift }

    /// Where decoding begins, counted from `origin`: below zero where pictures are reordered.
    static func firstDecodeTime(
        of times: [Int64], in source: TimeBase, origin: MediaTime, depth: Int
    ) throws -> MediaTime? {
        var timeline = DecodeTimeline(depth: depth)
        guard let time = try timeline.decodeTimes(for: times).first else { return nil }
        return try MediaTime(ticks: time, in: source).subtracting(origin)
    }

    /// Pictures that fall on one tick of a coarser unit go to neighbouring ticks.
    private mutating func separate(_ times: inout [Int64], _ source: [Int64]) {
        var largest: Int64 = 0
        for index in times.indices.sorted(by: { source[$0] < source[$1] }) {
            if let last, times[index] <= last {
                largest = max(largest, last + 1 - times[index])
                times[index] = last + 1
            }
            last = times[index]
        }
        guard largest > 0, let move = try? MediaTime(ticks: largest, in: unit) else { return }
        largestMove = max(largestMove, move)
    }

    /// Each picture lasts until the next one in presentation order; the segment's last until the segment's end.
    private static func durations(_ times: [Int64], last end: Int64) -> [Int64] {
        let order = times.indices.sorted { times[$0] < times[$1] }
        var durations = [Int64](repeating: 1, count: times.count)
        for (position, index) in order.enumerated() {
            let following = position + 1 < order.count ? times[order[position + 1]] : end
            durations[index] = max(1, following &- times[index])
        }
        return durations
    }
}
