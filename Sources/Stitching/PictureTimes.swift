internal import ClusterProtocol
internal import MediaTime

/// Gives the pictures of segment after segment their times in the output, in the unit that its container has.
struct PictureTimes {
    /// Unit of the segments' times.
    let source: TimeBase
    /// Unit of the output's track.
    let unit: TimeBase
    /// What becomes zero.
    private let origin: MediaTime
    /// The same in ticks of `source`; `nil` where it is no whole number of them, as sound may begin between two.
    private let originTicks: Int64?
    /// Added to every time, in `unit`.
    private let shift: Int64
    private var timeline: DecodeTimeline
    private var last: Int64?
    /// By how many ticks of `unit` pictures were moved because it cannot tell their times from their neighbours', by their time in
    /// the source: one number for each picture that has it, up to the last one moved.
    private(set) var moves: [Int64: [Int64]] = [:]
    /// The most of them; zero for none.
    var largestMove: MediaTime {
        moves.values.joined().max().flatMap { try? MediaTime(ticks: $0, in: unit) } ?? .zero
    }

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
        self.origin = origin
        let ticks = try origin.ticks(in: source)
        originTicks = try MediaTime(ticks: ticks, in: source) == origin ? ticks : nil
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

    /// Rounded once, where the unit is another.
    private func output(_ time: Int64) throws -> Int64 {
        guard let originTicks else {
            return try MediaTime(ticks: time, in: source).subtracting(origin).ticks(in: unit) &+ shift
        }
        return try source.rescale(time &- originTicks, to: unit) &+ shift
    }

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
        var before: (time: Int64, count: Int)?
        for index in times.indices.sorted(by: { source[$0] < source[$1] }) {
            let count = before.map { $0.time == source[index] ? $0.count : 0 } ?? 0
            before = (source[index], count + 1)
            if let last, times[index] <= last {
                let known = moves[source[index], default: []]
                moves[source[index]] =
                    known + Array(repeating: 0, count: max(0, count - known.count)) + [last + 1 - times[index]]
                times[index] = last + 1
            }
            last = times[index]
        }
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
